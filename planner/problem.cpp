// The latency limit goes into the service because it decides when training steps may start.
#include "planner/problem.h"

#include <fmt/format.h>

namespace ridgeline {

std::string text_of(const PlanVariant& variant) {
  std::string text = fmt::format("batch {}, {}", variant.batch, to_string(variant.dtype));
  if (variant.trained) text += fmt::format(", minibatch {}", variant.minibatch);
  return text;
}

Service service_of(const PlanProblem& problem, std::size_t variant, std::size_t mode,
                   const BatchCost& cost, const Objective& objective) {
  const std::int64_t batch = problem.variants[variant].batch;
  const OperatingPoint& point = problem.candidates.modes[mode].point;
  if (problem.scenario == Scenario::inference)
    return inference_service(cost, batch, objective, problem.host, point.cpu_cores.value_or(2));
  if (problem.scenario == Scenario::training)
    return training_service(problem.training, static_cast<double>(batch), cost, point);
  return concurrent_service(problem.concurrent, {batch, problem.variants[variant].minibatch}, cost,
                            point, latency_limit_s(objective));
}

double pace_s(const PlanProblem& problem, std::size_t variant, std::size_t mode,
              const BatchCost& cost) {
  if (problem.scenario == Scenario::inference)
    return batch_span_s(cost, problem.variants[variant].batch, problem.host);
  if (problem.scenario == Scenario::concurrent) return cost.training_s;
  return service_of(problem, variant, mode, cost, {}).time_s;
}

std::string_view goal_text(Scenario scenario, Goal goal) {
  switch (goal) {
    case Goal::energy:
      if (scenario == Scenario::training) return "energy per epoch";
      return scenario == Scenario::inference ? "energy per sample" : "energy per trained sample";
    case Goal::time:
      if (scenario == Scenario::training) return "time per epoch";
      return scenario == Scenario::inference ? "time" : "time per trained sample";
    case Goal::power:
      return "power";
    case Goal::edp:
      return "energy × delay";
  }
  return "cost";
}

}  // namespace ridgeline
