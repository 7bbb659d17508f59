// Identifies the board of a Jetson and looks for signs of sharing.
// Bandwidth is bus × transfers × clock.
#include "kernels/cuda/gpu_here.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "devices/machine/identification.h"
#include "devices/modes/present_mode.h"

namespace ridgeline::cuda {
namespace {

// "No cap" reads as −1, as 0 or as more than the memory has.
std::optional<double> memory_clock(const catalog::Configuration& configuration,
                                   const OperatingPoint& mode) {
  const auto& ceiling = configuration.memory.ceiling_hz;
  if (!mode.memory_hz || *mode.memory_hz <= 0)
    return ceiling ? std::optional(ceiling->value) : std::nullopt;
  return ceiling ? std::min(*mode.memory_hz, ceiling->value) : *mode.memory_hz;
}

}  // namespace

std::shared_ptr<Gpu> open_gpu_here() {
  std::shared_ptr<Gpu> gpu = open_gpu();
  if (!gpu->facts().integrated) return gpu;
  const Identity identity = identify();
  const catalog::Device device = this_device(identity);
  gpu->correct(corrected_facts(gpu->facts(), device, present_configuration(identity, device),
                               present_mode({})));
  return gpu;
}

MachineGpu machine_gpu(const DeviceFacts& facts) {
  MachineGpu gpu;
  gpu.name = facts.name;
  gpu.architecture = fmt::format("sm_{}", facts.architecture);
  gpu.multiprocessors = facts.multiprocessors;
  gpu.memory_bytes = facts.memory_bytes;
  if (facts.driver_version > 0)
    gpu.driver =
        fmt::format("CUDA {}.{}", facts.driver_version / 1000, facts.driver_version % 1000 / 10);
  return gpu;
}

DeviceFacts corrected_facts(DeviceFacts facts, const catalog::Device& device,
                            const catalog::Configuration& configuration,
                            const OperatingPoint& mode) {
  if (!facts.integrated || device.kind != catalog::Kind::jetson) return facts;
  if (configuration.gpu.ceiling_hz) facts.max_clock_hz = configuration.gpu.ceiling_hz->value;
  const auto hz = memory_clock(configuration, mode);
  if (hz && device.memory && device.memory->bus_bits && device.memory->transfers_per_clock)
    facts.memory_bytes_per_s =
        device.memory->bus_bits->value / 8 * device.memory->transfers_per_clock->value * *hz;
  if (!device.gpu) return facts;
  for (const catalog::CacheSize& cache : device.gpu->caches) {
    const auto bytes = static_cast<std::uint64_t>(cache.bytes.value);
    if (cache.level == Level::l2) facts.l2_bytes = bytes * std::uint64_t(cache.instances);
    if (cache.level == Level::l1) facts.l1_bytes = bytes;
  }
  return facts;
}

std::vector<Warning> sharing_warnings(const DeviceFacts& facts, const Environment& environment,
                                      const SystemRoot& root) {
  std::vector<Warning> warnings;
  const auto variable = [&](const char* name) -> std::string {
    const char* const value = environment(name);
    return value ? value : "";
  };
  if (facts.name.find(" MIG ") != std::string::npos ||
      variable("CUDA_VISIBLE_DEVICES").starts_with("MIG-"))
    warnings.push_back(
        {fmt::format("{} is a MIG instance with {} multiprocessors: rates are those of this part, "
                     "and its neighbours share caches and memory",
                     facts.name, facts.multiprocessors),
         "measure with MIG switched off: nvidia-smi -mig 0"});
  const std::string percentage = variable("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  std::string pipes = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (pipes.empty()) pipes = "/tmp/nvidia-mps";
  if (!percentage.empty() || exists(root, pipes.substr(pipes.find_first_not_of('/')) + "/control"))
    warnings.push_back(
        {percentage.empty()
             ? "an MPS server runs: other processes may use the GPU at the same time"
             : fmt::format("MPS lets this process have {} % of the GPU's threads", percentage),
         "stop it: echo quit | nvidia-cuda-mps-control"});
  return warnings;
}

}  // namespace ridgeline::cuda
