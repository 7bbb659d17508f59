// Which field of a Service each goal and limit reads.
#include "planner/service.h"

#include <cmath>

#include "planner/periodic.h"

namespace ridgeline {

Service inference_service(const BatchCost& cost, std::int64_t batch, const Objective& objective) {
  const double samples = static_cast<double>(batch);
  Service service;
  service.time_s = cost.time_s;
  service.latency_s = cost.time_s;
  service.delay_s = cost.time_s;
  service.sample_s = cost.time_s / samples;
  service.goal_s = service.sample_s;
  service.energy_j = cost.power_w * cost.time_s / samples;
  service.mean_power_w = cost.power_w;
  service.peak_power_w = cost.power_w;
  if (!objective.arrivals) return service;
  const DutyCycle cycle = duty_cycle(cost, samples / objective.arrivals->per_s);
  service.latency_s =
      latency_at_rate(cost.time_s, batch, *objective.arrivals, objective.latency_quantile);
  service.delay_s = service.latency_s;
  service.goal_s = service.latency_s;
  service.energy_j = cycle.energy_j / samples;
  service.mean_power_w = cycle.mean_power_w;
  return service;
}

double limited_value(LimitKind kind, const Service& service, double slowdown) {
  switch (kind) {
    case LimitKind::latency:
      return service.latency_s;
    case LimitKind::throughput:
    case LimitKind::arrivals:
      return service.sample_s;
    case LimitKind::power:
    case LimitKind::battery:
      return service.mean_power_w;
    case LimitKind::peak_power:
      return service.peak_power_w;
    case LimitKind::slowdown:
      return slowdown;
    case LimitKind::energy:
      return service.energy_j;
    case LimitKind::epoch_time:
      return service.time_s;
    case LimitKind::training_time:
      return service.run_s;
  }
  return 0;
}

double score_of(Goal goal, const Service& service) {
  switch (goal) {
    case Goal::energy:
      return service.energy_j;
    case Goal::time:
      return service.goal_s;
    case Goal::power:
      return service.mean_power_w;
    case Goal::edp:
      return service.energy_j * service.delay_s;
  }
  return 0;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace ridgeline
