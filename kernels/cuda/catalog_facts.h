// Facts of a Jetson's GPU that its driver gets wrong, as the catalog has them: memory clock and bus
// are those of something else, the L2 cache and the highest clock differ on some releases. Which
// board this is, is found out elsewhere.
#pragma once

#include "base/operating_point.h"
#include "devices/catalog/catalog.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

// Elsewhere the driver is believed. The memory clock is the mode's where that is known.
DeviceFacts corrected_facts(DeviceFacts facts, const catalog::Device& device,
                            const catalog::Configuration& configuration,
                            const OperatingPoint& mode);

}  // namespace ridgeline::cuda
