// What a multiprocessor can do per clock, as far as a source states it: the catalog's rates of all
// devices with the same architecture, if they agree.
#pragma once

#include <optional>

#include "kernels/cuda/gpu.h"
#include "kernels/cuda/kernel.h"
#include "kernels/verdict.h"

namespace ridgeline::cuda {

// FLOP (OP for integers) or bytes per clock of one multiprocessor; absent if no source states it,
// if products of the architecture differ (FP16 with FP32 sums is half as fast on GeForce), or if
// another instruction is faster than the kernel's.
std::optional<double> theory_per_cycle(const Kernel& kernel, int architecture);

Theory theory_of(const Kernel& kernel, const DeviceFacts& facts);

}  // namespace ridgeline::cuda
