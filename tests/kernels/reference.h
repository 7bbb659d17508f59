// What a kernel must compute, in plain C++: the measure of its arithmetic in tests.
// Slow on purpose; never used while measuring.
#pragma once

#include <cstdint>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu {

// Advances the state of a compute kernel by `repeats` trips; equal to the body bit for bit.
void run_reference(const Kernel& kernel, std::uint64_t repeats, void* state);

}  // namespace ridgeline::cpu
