// Parameters first, then the two scales: the order is part of what a seed means.
#include "roofline/model/coefficient_draws.h"

#include <cmath>

#include "roofline/model/draws.h"

namespace ridgeline {

std::vector<CoefficientDraw> coefficient_draws(const MachineModel& model, Runtime runtime,
                                               int draws, std::uint64_t seed) {
  std::vector<CoefficientDraw> result;
  if (draws <= 0) return result;
  const ParameterDraws parameters(model);
  Random random{seed};
  result.reserve(static_cast<std::size_t>(draws));
  for (int i = 0; i < draws; ++i) {
    CoefficientDraw draw{coefficients(model, parameters.draw(random), runtime), 1, 1};
    draw.time_scale = std::exp(draw.values.time_error * normal(random));
    draw.power_scale = std::exp(draw.values.power_error * normal(random));
    result.push_back(std::move(draw));
  }
  return result;
}

}  // namespace ridgeline
