// What the user could change about a run on a machine: modes, clocks, batches, types, runtimes.
// Lists only; advice.h computes what a change gains.
#pragma once

#include "roofline/explain/advice.h"
#include "roofline/model/machine.h"

namespace ridgeline {

// `fixed_dtype`: the network has its own types, which cannot be changed.
Choices choices_for(const MachineSource& source, const Setting& now, bool fixed_dtype);

// The type that the machine computes `dtype` in: `dtype` itself, or the next wider one that it has
// units for.
DType runnable_dtype(const MachineModel& model, DType dtype);

}  // namespace ridgeline
