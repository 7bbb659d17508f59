// All arithmetic at once, without memory: what a run can take at least if nothing else limits it.
#include "roofline/explain/utilization.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/units.h"
#include "base/work.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"

namespace ridgeline {

std::optional<Utilization> utilization(std::span<const Demand> demands, double time_s,
                                       const MachineModel& model, const OperatingPoint& point) {
  Work work;
  for (const Demand& demand : demands) work += demand.work;
  const auto least = ApplicableCeilings(datasheet_ceilings(model, point)).hardest(work, 0);
  if (!least || !(least->time_s > 0) || !(time_s > 0)) return std::nullopt;
  return Utilization{time_s, total_operations(work) / time_s, total_bytes(work) / time_s,
                     least->time_s / time_s, least->name};
}

std::string to_text(const Utilization& used) {
  std::string text =
      fmt::format("measured: {}: {}, {}, MFU {} of {} (datasheet)", format_seconds(used.time_s),
                  format_si(used.operations_per_s, "OP/s"), format_si(used.bytes_per_s, "B/s"),
                  format_percent(used.share, 1), used.roof);
  if (used.share > 1)
    text += "; more than the machine can do: check the time, the batch and the mode";
  return text;
}

Json to_json(const Utilization& used) {
  return {{"time_s", used.time_s},
          {"operations_per_s", used.operations_per_s},
          {"bytes_per_s", used.bytes_per_s},
          {"mfu", used.share},
          {"roof", used.roof}};
}

}  // namespace ridgeline
