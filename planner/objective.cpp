// Spelling of bounds.
#include "planner/objective.h"

#include "base/units.h"

namespace ridgeline {

std::string limit_value_text(LimitKind kind, double bound) {
  switch (kind) {
    case LimitKind::latency:
    case LimitKind::arrivals:
    case LimitKind::epoch_time:
    case LimitKind::training_time:
      return format_seconds(bound);
    case LimitKind::throughput:
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
