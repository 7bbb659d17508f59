// Tensor rates that mma.sync does not reach: which other instruction has them.
// ridgeline has no code for these; its plan names them, so that nobody takes a row for the peak.
#pragma once

#include <string_view>

#include "kernels/cuda/kernel.h"

namespace ridgeline::cuda {

// "wgmma" or "tcgen05"; empty where mma.sync has the full rate or nothing else does this product.
std::string_view full_rate_instruction(const Kernel& kernel, int architecture);

}  // namespace ridgeline::cuda
