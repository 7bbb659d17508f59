// Which field of a Service each goal and limit reads.
#include "planner/service.h"

#include <algorithm>
#include <cmath>

#include "planner/periodic.h"

namespace ridgeline {

void add_generation(BatchCost& prompt, const BatchCost& token, double tokens) {
  const double energy_j = prompt.power_w * prompt.time_s + tokens * token.power_w * token.time_s;
  prompt.first_token_s = prompt.time_s;
  prompt.token_s = token.time_s;
  prompt.token_w = token.power_w;
  prompt.time_s += tokens * token.time_s;
  prompt.power_w = energy_j / prompt.time_s;
  prompt.host_s += tokens * token.host_s;
}

double batch_span_s(const BatchCost& cost, std::int64_t batch, const HostWork& host) {
  if (host.clocks_per_sample <= 0) return cost.time_s;
  return cost.time_s + static_cast<double>(batch) * host.clocks_per_sample / cost.core_hz;
}

Service inference_service(const BatchCost& cost, std::int64_t batch, const Objective& objective,
                          const HostWork& host, int cores) {
  const double samples = static_cast<double>(batch);
  const bool overlaps = host.pipelined && cores > 1;
  Service service;
  service.time_s = batch_span_s(cost, batch, host);
  const double host_s = service.time_s - cost.time_s;
  const double pace_s = overlaps ? std::max(cost.time_s, host_s) : service.time_s;
  // Cores of the host draw nothing more where their power is unknown, as beside a graphics card.
  const double core_w = std::isnan(cost.core_w) ? 0 : cost.core_w;
  const double reserved_w = host.reserved_cores * core_w;
  service.latency_s = service.time_s;
  service.sample_s = pace_s / samples;
  service.peak_power_w = cost.power_w + (overlaps && host_s > 0 ? core_w : 0) + reserved_w;
  double period_s = pace_s;
  if (objective.arrivals) {
    period_s = std::max(period_s, samples / objective.arrivals->per_s);
    service.latency_s =
        latency_at_rate(pace_s, batch, *objective.arrivals, objective.latency_quantile) +
        (service.time_s - pace_s);
  }
  double energy_j = duty_cycle(cost, period_s).energy_j;
  if (host.is_given()) energy_j += host_s * core_w + period_s * reserved_w;
  service.energy_j = energy_j / samples;
  service.mean_power_w = energy_j / period_s;
  service.delay_s = service.latency_s;
  service.goal_s = objective.arrivals ? service.latency_s : service.sample_s;
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
