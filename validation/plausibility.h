// Whether a measured row can be true. A row that cannot is left out with the reason: fitting it
// would bend the model.
#pragma once

#include <string>

#include "validation/predictor.h"

namespace ridgeline {

enum class Fault { none, contradiction, wrong_unit };

struct Plausibility {
  Fault fault = Fault::none;
  std::string reason;  // empty without a fault
};

// `least_time_s` is the roofline's bound: no run is faster.
Plausibility check_plausibility(const Observation& row, const Forecast& forecast,
                                double least_time_s);

}  // namespace ridgeline
