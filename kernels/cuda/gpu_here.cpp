// Identifies the board of a Jetson. Elsewhere the driver's word is left as it is.
#include "kernels/cuda/gpu_here.h"

#include <fmt/format.h>

#include "devices/machine/identification.h"
#include "devices/modes/present_mode.h"
#include "kernels/cuda/catalog_facts.h"

namespace ridgeline {

std::shared_ptr<cuda::Gpu> open_gpu_here() {
  std::shared_ptr<cuda::Gpu> gpu = cuda::open_gpu();
  if (!gpu->facts().integrated) return gpu;
  const Identity identity = identify();
  const catalog::Device device = this_device(identity);
  gpu->correct(cuda::corrected_facts(gpu->facts(), device, present_configuration(identity, device),
                                     present_mode({})));
  return gpu;
}

Gpu machine_gpu(const cuda::DeviceFacts& facts) {
  Gpu gpu;
  gpu.name = facts.name;
  gpu.architecture = fmt::format("sm_{}", facts.architecture);
  gpu.multiprocessors = facts.multiprocessors;
  gpu.memory_bytes = facts.memory_bytes;
  if (facts.driver_version > 0)
    gpu.driver =
        fmt::format("CUDA {}.{}", facts.driver_version / 1000, facts.driver_version % 1000 / 10);
  return gpu;
}

}  // namespace ridgeline
