// What a CUDA device could do at most, per multiprocessor and clock.
// A table of what vendors published; a kernel that is not in it has no theory.
#pragma once

#include <optional>

#include "kernels/cuda/kernel.h"

namespace ridgeline::cuda {

// FLOP (OP for integers) or bytes per clock of one multiprocessor.
std::optional<double> theory_per_cycle(const Kernel& kernel, int architecture);

}  // namespace ridgeline::cuda
