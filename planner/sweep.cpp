// The step model keeps kernel times per clock, so one batch of 15,312 modes takes milliseconds; two
// threads would gain less than they cost.
#include "planner/sweep.h"

#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"

namespace ridgeline {

CostModel::CostModel(const NetworkLoad& load, const Coefficients& coefficients)
    : coefficients_(coefficients), model_(load, coefficients_) {}

RunCost CostModel::at(const Conditions& conditions) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Step step = model_.at(conditions, false);
  RunCost cost{step.time_s, unknown, unknown};
  if (!step.power_w) return cost;
  cost.power_w = *step.power_w;
  const DevicePoint device = device_point(coefficients_, conditions.point);
  cost.idle_w = constant_power(coefficients_, device, conditions.point, 0, 0);
  if (conditions.power_kind == PowerKind::wall) cost.idle_w += coefficients_.power.wall_offset_w;
  return cost;
}

Sweep sweep(const PlanProblem& problem) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Sweep result;
  const auto& modes = problem.modes.modes;
  result.modes = modes.size();
  result.costs.reserve(modes.size() * problem.variants.size());
  const Coefficients values = coefficients(*problem.model, problem.conditions.runtime);
  std::optional<Error> fault;
  bool has_any = false;
  Conditions conditions = problem.conditions;
  for (const PlanVariant& variant : problem.variants) {
    const CostModel model(*variant.load, values);
    double least = std::numeric_limits<double>::infinity();
    std::size_t fastest = result.costs.size();
    for (const PlanMode& mode : modes) {
      RunCost cost{unknown, unknown, unknown};
      try {
        conditions.point = mode.point;
        cost = model.at(conditions);
        has_any = true;
      } catch (const Error& error) {  // a stock mode whose clock no source states
        fault = error;
      }
      if (mode.is_choice(problem.modes.reach) && cost.time_s < least) {
        least = cost.time_s;
        fastest = result.costs.size();
      }
      result.costs.push_back(cost);
    }
    result.fastest_s.push_back(least);
    result.fastest.push_back(fastest);
  }
  if (!has_any && fault) throw *fault;
  return result;
}

}  // namespace ridgeline
