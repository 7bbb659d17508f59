// The CUDA device of this machine, opened and with what the catalog knows better than its driver.
// Measuring it is kernels/cuda's part.
#pragma once

#include <memory>

#include "base/machine.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline {

std::shared_ptr<cuda::Gpu> open_gpu_here();

// As a profile names it.
Gpu machine_gpu(const cuda::DeviceFacts& facts);

}  // namespace ridgeline
