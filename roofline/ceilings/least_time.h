// The roof's bound on a whole network: the time that no software can go below on this machine.
// Not a prediction: every kernel at the peak of its type, every weight read once.
#pragma once

#include "base/ceilings.h"
#include "base/machine_model.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// The larger of arithmetic at the fastest dense peak and of weights over the memory's bandwidth;
// `cache_bytes` of them may have stayed on the chip since the run before. Zero where the ceilings
// know neither.
double least_time_s(const Ceilings& ceilings, const NetworkLoad& load, double cache_bytes);

// What the caches of a machine can hold, all together.
double cache_bytes(const MachineModel& model);

}  // namespace ridgeline
