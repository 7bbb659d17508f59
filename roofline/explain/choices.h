// What could be changed about a run on a machine: modes, clocks, batches, types, runtimes.
// Lists only; what a change gains is computed in advice.h.
#pragma once

#include "roofline/explain/advice.h"
#include "roofline/model/machine.h"

namespace ridgeline {

// `fixed_dtype`: the network's types are its own.
Choices choices_for(const MachineSource& source, const Setting& now, bool fixed_dtype);

// The type that the machine computes in where a network asks for `dtype`: itself, or the next wider
// one that it has units for.
DType runnable_dtype(const MachineModel& model, DType dtype);

}  // namespace ridgeline
