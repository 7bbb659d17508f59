// The ceilings of any operating point, a pure function of the model: peaks, usable bandwidth,
// launch cost, energy per operation and byte, idle and busy power. Absent where the model is
// silent.
#pragma once

#include "base/ceilings.h"
#include "base/machine_model.h"
#include "base/operating_point.h"

namespace ridgeline {

Ceilings ceilings_of(const MachineModel& model, const OperatingPoint& point);

}  // namespace ridgeline
