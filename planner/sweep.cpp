// The step model keeps kernel times per clock, so one batch of 15,312 modes takes milliseconds; two
// threads would gain less than they cost.
#include "planner/sweep.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "planner/task.h"

namespace ridgeline {

CostModel::CostModel(const NetworkLoad& load, const Coefficients& coefficients)
    : coefficients_(coefficients), model_(load, coefficients_) {}

RunCost CostModel::at(const Conditions& conditions) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const Step step = model_.at(conditions, false);
  RunCost cost{.time_s = step.time_s, .power_w = unknown, .idle_w = unknown};
  cost.host_s = step.host_s;
  cost.core_hz = host_hz_of(conditions.point, coefficients_.host);
  cost.core_w = unknown;
  if (!step.power_w) return cost;
  cost.power_w = *step.power_w;
  const DevicePoint device = device_point(coefficients_, conditions.point);
  cost.idle_w = constant_power(coefficients_, device, conditions.point, 0, 0);
  cost.core_w = constant_power(coefficients_, device, conditions.point, 0, 1) - cost.idle_w;
  if (conditions.power_kind == PowerKind::wall) cost.idle_w += coefficients_.power.wall_offset_w;
  return cost;
}

std::string text_of(const PlanVariant& variant) {
  std::string text = fmt::format("batch {}, {}", variant.batch, to_string(variant.dtype));
  if (variant.trained != nullptr) text += fmt::format(", minibatch {}", variant.minibatch);
  return text;
}

void add_training(RunCost& cost, const RunCost& step) {
  cost.training_s = step.time_s;
  cost.training_w = step.power_w;
  cost.training_host_s = step.host_s;
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
  Conditions conditions = problem.conditions, trained = problem.conditions;
  trained.runtime = problem.trained_by;
  // Steps of training are the same beside any batch of inference.
  std::map<const NetworkLoad*, std::vector<RunCost>> steps;
  const auto step_at = [&](const NetworkLoad& load, std::size_t mode) {
    std::vector<RunCost>& known = steps[&load];
    if (known.empty()) {
      known.assign(modes.size(), {.time_s = unknown, .power_w = unknown, .idle_w = unknown});
      const CostModel model(load, coefficients(*problem.model, problem.trained_by));
      for (std::size_t i = 0; i < modes.size(); ++i) {
        trained.point = modes[i].point;
        try {
          known[i] = model.at(trained);
        } catch (const Error& error) {
          fault = error;
        }
      }
    }
    return known[mode];
  };
  for (const PlanVariant& variant : problem.variants) {
    const CostModel model(*variant.load, values);
    double least = std::numeric_limits<double>::infinity();
    std::size_t fastest = result.costs.size();
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const PlanMode& mode = modes[i];
      RunCost cost{.time_s = unknown, .power_w = unknown, .idle_w = unknown};
      try {
        conditions.point = mode.point;
        cost = model.at(conditions);
        if (variant.trained != nullptr) add_training(cost, step_at(*variant.trained, i));
        has_any = true;
      } catch (const Error& error) {  // a stock mode whose clock no source states
        fault = error;
      }
      const double pace = pace_s(problem, result.fastest.size(), i, cost);
      if (mode.is_choice(problem.modes.reach) && pace < least) {
        least = pace;
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
