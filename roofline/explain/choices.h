// What the user could change about a run on a machine: modes, clocks, batches, types, runtimes.
// Lists only; advice.h computes what a change gains.
#pragma once

#include "roofline/explain/advice.h"
#include "roofline/model/machine.h"

namespace ridgeline {

Choices choices_for(const MachineSource& source, const Setting& now);

// Whether the GPU, or the CPU of a machine without one, has units for the type.
bool has_units(const MachineModel& model, DType dtype);

// What fp32 means under TensorRT, for people; empty where it means fp32.
std::string tf32_note(const MachineModel& model, DType dtype, Runtime runtime);

// The type that the machine computes `dtype` in: `dtype` itself, or the next wider one that it has
// units for.
DType runnable_dtype(const MachineModel& model, DType dtype);

}  // namespace ridgeline
