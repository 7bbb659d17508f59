// What could be changed about a run on a machine: modes, clocks, batches, types, runtimes.
// Lists only; what a change gains is roofline/explain/advice.h's.
#pragma once

#include "cli/requests/machine.h"
#include "roofline/explain/advice.h"

namespace ridgeline::cli {

// `fixed_dtype`: the network's types are its own.
Choices choices_for(const MachineSource& source, const Setting& now, bool fixed_dtype);

// The type that the machine computes in where a network asks for `dtype`: itself, or the next wider
// one that it has units for.
DType runnable_dtype(const MachineModel& model, DType dtype);

}  // namespace ridgeline::cli
