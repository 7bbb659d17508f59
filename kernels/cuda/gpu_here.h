// The CUDA device of this machine: opened, with the facts of a Jetson's GPU that the catalog knows
// better than its driver, and with warnings if others use a part of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/machine.h"
#include "base/operating_point.h"
#include "base/profile.h"
#include "devices/catalog/catalog.h"
#include "devices/machine/system_files.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

std::shared_ptr<Gpu> open_gpu_here();

// As a profile names it.
MachineGpu machine_gpu(const DeviceFacts& facts);

// A Jetson's driver reports memory clock and bus of something else, and on some releases another L2
// cache and another highest clock. Elsewhere the driver is right. The memory clock is the mode's if
// that is known; a number that the catalog lacks leaves the fact alone.
DeviceFacts corrected_facts(DeviceFacts facts, const catalog::Device& device,
                            const catalog::Configuration& configuration,
                            const OperatingPoint& mode);

using Environment = std::function<const char*(const char* name)>;  // std::getenv

// Others may have a part of the GPU, and what is measured is then not all of it. MIG cuts a GPU
// into instances, which have it in their name or in the variable that chooses them. MPS lets
// processes run on it at once, through a daemon that has a pipe. The driver is not called.
std::vector<Warning> sharing_warnings(const DeviceFacts& facts, const Environment& environment,
                                      const SystemRoot& root = {});

}  // namespace ridgeline::cuda
