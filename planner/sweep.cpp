// The step model keeps kernel times per clock, so sweeping one batch over 15,312 modes takes
// milliseconds; two threads would gain less than they cost.
#include "planner/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"

namespace ridgeline {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// In every mode; NaN where the model throws, as in a stock mode whose clock no source states. The
// last Error is kept.
std::vector<BatchCost> costs_in_modes(const CostModel& model, Conditions conditions,
                                      const std::vector<CandidateMode>& modes,
                                      std::optional<Error>& fault,
                                      std::vector<std::string>* left_out = nullptr) {
  std::vector<BatchCost> costs;
  costs.reserve(modes.size());
  for (const CandidateMode& mode : modes) {
    conditions.point = mode.point;
    try {
      costs.push_back(model.at(conditions));
    } catch (const Error& error) {
      BatchCost cost{.time_s = unknown, .power_w = unknown, .idle_w = unknown};
      cost.training_s = unknown;  // a mode that cannot run is not the fastest
      costs.push_back(cost);
      fault = error;
      if (left_out != nullptr && mode.stock)
        left_out->push_back(fmt::format("{} is left out: {}", mode.point.label, error.cause()));
    }
  }
  return costs;
}

bool can_run(const BatchCost& cost) { return !std::isnan(cost.time_s); }

// Training steps beside inference: the same beside any batch of inference.
std::map<const NetworkLoad*, std::vector<BatchCost>> training_steps(const PlanProblem& problem) {
  std::map<const NetworkLoad*, std::vector<BatchCost>> steps;
  Conditions conditions = problem.conditions;
  conditions.runtime = problem.concurrent.runtime;
  std::optional<Error> ignored;
  for (const PlanVariant& variant : problem.variants) {
    const NetworkLoad* load = variant.trained.get();
    if (load == nullptr || steps.contains(load)) continue;
    const CostModel model(*load, coefficients(problem.model, conditions.runtime));
    steps[load] = costs_in_modes(model, conditions, problem.candidates.modes, ignored);
  }
  return steps;
}

}  // namespace

Sweep sweep(const PlanProblem& problem) {
  Sweep result;
  const auto& modes = problem.candidates.modes;
  result.modes = modes.size();
  result.costs.reserve(modes.size() * problem.variants.size());
  const Coefficients values = coefficients(problem.model, problem.conditions.runtime);
  const auto steps = training_steps(problem);
  std::optional<Error> fault;
  for (std::size_t variant = 0; variant < problem.variants.size(); ++variant) {
    const CostModel model(*problem.variants[variant].load, values);
    const NetworkLoad* trained = problem.variants[variant].trained.get();
    std::vector<BatchCost> generated;
    if (const NetworkLoad* token = problem.variants[variant].token.get())
      generated = costs_in_modes(CostModel(*token, values), problem.conditions, modes, fault);
    double least_s = std::numeric_limits<double>::infinity();
    std::size_t fastest = result.costs.size();
    std::vector<BatchCost> costs = costs_in_modes(model, problem.conditions, modes, fault,
                                                  variant == 0 ? &result.left_out : nullptr);
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      BatchCost& cost = costs[mode];
      if (!generated.empty() && can_run(cost))
        add_generation(cost, generated[mode], problem.variants[variant].tokens);
      if (trained != nullptr && can_run(cost)) add_training(cost, steps.at(trained)[mode]);
      const double pace = pace_s(problem, variant, mode, cost);
      if (problem.candidates.is_eligible(mode) && pace < least_s) {
        least_s = pace;
        fastest = result.row(variant, mode);
      }
      result.costs.push_back(cost);
    }
    result.fastest_s.push_back(least_s);
    result.fastest.push_back(fastest);
  }
  if (fault && std::none_of(result.costs.begin(), result.costs.end(), can_run)) throw *fault;
  return result;
}

const CandidateMode& mode_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row) {
  return problem.candidates.modes[sweep.mode_of(row)];
}

const PlanVariant& variant_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row) {
  return problem.variants[sweep.variant_of(row)];
}

Service service_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                   const Objective& objective) {
  return service_of(problem, sweep.variant_of(row), sweep.mode_of(row), sweep.costs[row],
                    objective);
}

double slowdown_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row) {
  const std::size_t variant = sweep.variant_of(row);
  return pace_s(problem, variant, sweep.mode_of(row), sweep.costs[row]) / sweep.fastest_s[variant] -
         1;
}

double limited_value_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                        LimitKind kind, const Objective& objective) {
  return kind == LimitKind::slowdown
             ? slowdown_at(problem, sweep, row)
             : limited_value(kind, service_at(problem, sweep, row, objective), 0);
}

CostModel::CostModel(const NetworkLoad& load, const Coefficients& coefficients)
    : coefficients_(coefficients), model_(load, coefficients_) {}

BatchCost CostModel::at(const Conditions& conditions) const {
  const Step step = model_.at(conditions, false);
  BatchCost cost{.time_s = step.time_s, .power_w = unknown, .idle_w = unknown};
  cost.host_s = step.host_s;
  cost.core_hz = host_hz_of(conditions.point, coefficients_.host);
  cost.core_w = unknown;
  if (!step.power_w) return cost;
  cost.power_w = *step.power_w;
  const DevicePoint device = device_point(coefficients_, conditions.point);
  const auto waiting_w = [&](double busy_cores) {
    const double watt = constant_power(coefficients_, device, conditions.point, 0, busy_cores);
    return conditions.power_kind == PowerKind::wall ? wall_power(coefficients_.power, watt) : watt;
  };
  cost.idle_w = waiting_w(0);
  cost.core_w = waiting_w(1) - cost.idle_w;
  return cost;
}

void add_training(BatchCost& cost, const BatchCost& step) {
  cost.training_s = step.time_s;
  cost.training_w = step.power_w;
  cost.training_host_s = step.host_s;
}

}  // namespace ridgeline
