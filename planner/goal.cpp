// Lookups among the limits of an objective, and the spelling of their bounds.
#include "planner/goal.h"

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace ridgeline {

double required_probability(const Limit& limit, const Objective& objective) {
  return std::max(limit.probability, objective.risk);
}

double latency_limit_s(const Objective& objective) {
  for (const Limit& limit : objective.limits)
    if (limit.kind == LimitKind::latency) return limit.bound;
  return std::numeric_limits<double>::infinity();
}

std::string limit_value_text(LimitKind kind, double bound) {
  switch (kind) {
    case LimitKind::latency:
    case LimitKind::epoch_time:
    case LimitKind::training_time:
      return format_seconds(bound);
    case LimitKind::throughput:
    case LimitKind::arrivals:
      return format_number(1 / bound) + " /s";
    case LimitKind::power:
    case LimitKind::peak_power:
    case LimitKind::battery:
      return format_si(bound, "W");
    case LimitKind::slowdown:
      return format_percent(bound, 1);
    case LimitKind::energy:
      return format_si(bound, "J");
  }
  return format_number(bound);
}

}  // namespace ridgeline
