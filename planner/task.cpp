// A latency limit is part of how turns are made, so it is looked up among the limits.
#include "planner/task.h"

#include <limits>

namespace ridgeline {

double latency_limit(const Objective& objective) {
  for (const Limit& limit : objective.limits)
    if (limit.kind == LimitKind::latency) return limit.bound;
  return std::numeric_limits<double>::infinity();
}

Service service_of(const PlanProblem& problem, std::size_t variant, std::size_t mode,
                   const RunCost& cost, const Objective& objective) {
  const std::int64_t batch = problem.variants[variant].batch;
  if (problem.task == PlanTask::inference) return service_of(cost, batch, objective);
  const OperatingPoint& point = problem.modes.modes[mode].point;
  if (problem.task == PlanTask::training)
    return training_service(problem.training, static_cast<double>(batch), cost, point);
  return concurrent_service(problem.concurrent, {batch, problem.variants[variant].minibatch}, cost,
                            point, latency_limit(objective));
}

double pace_s(const PlanProblem& problem, std::size_t variant, std::size_t mode,
              const RunCost& cost) {
  if (problem.task == PlanTask::inference) return cost.time_s;
  if (problem.task == PlanTask::concurrent) return cost.training_s;
  return service_of(problem, variant, mode, cost, {}).time_s;
}

std::string_view goal_text(const PlanProblem& problem, Goal goal) {
  const PlanTask task = problem.task;
  switch (goal) {
    case Goal::energy:
      if (task == PlanTask::training) return "energy per epoch";
      return task == PlanTask::inference ? "energy per sample" : "energy per trained sample";
    case Goal::time:
      if (task == PlanTask::training) return "time per epoch";
      return task == PlanTask::inference ? "time" : "time per trained sample";
    case Goal::power:
      return "power";
    case Goal::edp:
      return "energy × delay";
  }
  return "cost";
}

}  // namespace ridgeline
