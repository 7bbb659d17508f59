// Utilization: how much of a machine's arithmetic a measured run used, as model FLOP utilisation
// (MFU): the least time of the network's arithmetic on the fastest units for its types, by the
// datasheet at the clocks of the mode, over the measured time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/demand.h"
#include "base/json_fwd.h"
#include "base/machine_model.h"
#include "base/operating_point.h"

namespace ridgeline {

struct Utilization {
  double time_s = 0;            // measured
  double operations_per_s = 0;  // FLOP and OP
  double bytes_per_s = 0;       // as counted, whether they come from memory or from a cache
  double share = 0;             // MFU
  std::string roof;             // "FP16 matrix"
};

// Absent if the machine has no peak for the arithmetic.
std::optional<Utilization> utilization(std::span<const Demand> demands, double time_s,
                                       const MachineModel& model, const OperatingPoint& point);

// "measured: 12.0 ms: 3.02 TOP/s, 41.5 GB/s, MFU 34.0 % of FP16 matrix (datasheet)".
std::string to_text(const Utilization& used);
Json to_json(const Utilization& used);

}  // namespace ridgeline
