// Whether a measured row can be true. A row that cannot is left out with the reason: fitting it
// would bend the model. A row that is faster than the roof, or draws more than the board's cap
// lets through, was measured on another device.
#pragma once

#include <optional>
#include <string>

#include "validation/predictor.h"

namespace ridgeline {

enum class Fault { none, other_device, wrong_unit };

struct Plausibility {
  Fault fault = Fault::none;
  std::string reason;  // empty without a fault
};

// What no run on the device of `model` does better: the roofline's time, the power of the cap that
// the board keeps by itself.
struct DeviceLimits {
  double least_time_s = 0;
  std::optional<double> cap_w{};
};

DeviceLimits limits_for(const Observation& row, const MachineModel& model,
                        const Predictor& predictor);

Plausibility check_plausibility(const Observation& row, const Forecast& forecast,
                                const DeviceLimits& limits);

}  // namespace ridgeline
