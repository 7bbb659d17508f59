// Values of the means; whether the limits hold is by the means too, except for the chosen line,
// which is the plan's.
#include "report/plan_csv.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "report/modes.h"

namespace ridgeline {
namespace {

std::string number(double value) { return std::isfinite(value) ? csv_number(value) : ""; }

}  // namespace

std::string plan_csv(const PlanProblem& problem, const PlanResult& result) {
  const Sweep& sweep = result.sweep;
  const Objective& objective = result.plan.run.objective;
  // What a row is compared by, as the task has it.
  const bool is_training = problem.scenario == Scenario::training;
  const bool is_both = problem.scenario == Scenario::concurrent;
  const char* delay = is_training ? "epoch_s" : "latency_s";
  const char* energy = is_training ? "epoch_energy_j"
                       : is_both   ? "trained_sample_energy_j"
                                   : "sample_energy_j";
  const char* rate = is_training || is_both ? "trained_samples_per_s" : "samples_per_s";
  std::string text =
      csv_row({"mode",         "label",   "stock",     "reach",       "gpu_units", "gpu_hz",
               "memory_hz",    "cpu_hz",  "cpu_cores", "batch",       "minibatch", "dtype",
               "time_s",       "power_w", "energy_j",  delay,         energy,      "mean_power_w",
               "peak_power_w", rate,      "slowdown",  "limits_hold", "chosen"});
  const PlannedMode& chosen = result.plan.chosen;
  for (std::size_t row = 0; row < sweep.costs.size(); ++row) {
    const CandidateMode& mode = problem.candidates.modes[sweep.mode_of(row)];
    const PlanVariant& variant = problem.variants[sweep.variant_of(row)];
    const BatchCost& cost = sweep.costs[row];
    if (!problem.candidates.is_eligible(sweep.mode_of(row)) || !std::isfinite(cost.time_s))
      continue;
    const Service service = service_at(problem, sweep, row, objective);
    const double slowdown = slowdown_at(problem, sweep, row);
    const bool holds =
        std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
          return limited_value(limit.kind, service, slowdown) <= limit.bound;
        });
    const bool is_chosen = mode.point == chosen.point && variant.batch == chosen.batch &&
                           variant.dtype == chosen.dtype &&
                           (!is_both || variant.minibatch == chosen.service->minibatch);
    const OperatingPoint& point = mode.point;
    const std::int64_t minibatch = is_training ? variant.batch : variant.minibatch;
    const auto clock = [](const std::optional<double>& hz) { return hz ? hertz(*hz) : ""; };
    const auto count = [](const std::optional<int>& value) {
      return value ? std::to_string(*value) : "";
    };
    text += csv_row({request_text(point),
                     point.label,
                     mode.stock ? "true" : "false",
                     std::string(to_string(mode.reach)),
                     count(point.gpu_units),
                     clock(point.gpu_hz),
                     clock(point.memory_hz),
                     cpu_hertz(point),
                     count(point.cpu_cores),
                     std::to_string(variant.batch),
                     minibatch > 0 ? std::to_string(minibatch) : "",
                     std::string(to_string(variant.dtype)),
                     number(cost.time_s),
                     number(cost.power_w),
                     number(cost.power_w * cost.time_s),
                     number(service.latency_s),
                     number(service.energy_j),
                     number(service.mean_power_w),
                     number(service.peak_power_w),
                     number(1 / service.sample_s),
                     number(slowdown),
                     holds ? "true" : "false",
                     is_chosen ? "true" : "false"});
  }
  return text;
}

}  // namespace ridgeline
