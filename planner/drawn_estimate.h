// An Estimate of something that a plan serves: the value at the means, the interval of the draws.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/estimate.h"
#include "base/statistics.h"
#include "planner/periodic.h"

namespace ridgeline {

// `part` of each drawn service; draws in which work piles up are left out.
template <class Part>
Estimate drawn_estimate(double value, const std::vector<Service>& services, Part part) {
  std::vector<double> draws;
  for (const Service& service : services)
    if (std::isfinite(part(service))) draws.push_back(part(service));
  if (draws.empty()) return exact(value, Source::predicted);
  return {value, std::min(value, quantile(draws, 0.05)), std::max(value, quantile(draws, 0.95)),
          Source::predicted};
}

}  // namespace ridgeline
