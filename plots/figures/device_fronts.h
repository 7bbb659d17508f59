// Plans of one network on several devices → Figure: the Pareto front of each in latency and energy,
// with its choice. One device in full: plan.h.
#pragma once

#include <vector>

#include "planner/planner.h"
#include "plots/figure.h"

namespace ridgeline {

struct DevicePlan {
  PlanProblem problem;
  PlanResult result;
};

// At least one, all with power: an Error where none is left.
Figure device_fronts_figure(const std::vector<DevicePlan>& devices);

}  // namespace ridgeline
