// Bandwidth is bus × transfers × clock. A number that the catalog lacks leaves the fact alone.
#include "kernels/cuda/catalog_facts.h"

#include <algorithm>

namespace ridgeline::cuda {
namespace {

// A cap that is no cap reads as −1, as 0 or as more than the memory has.
std::optional<double> memory_clock(const catalog::Configuration& configuration,
                                   const OperatingPoint& mode) {
  const auto& ceiling = configuration.memory.ceiling_hz;
  if (!mode.memory_hz || *mode.memory_hz <= 0)
    return ceiling ? std::optional(ceiling->value) : std::nullopt;
  return ceiling ? std::min(*mode.memory_hz, ceiling->value) : *mode.memory_hz;
}

}  // namespace

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

}  // namespace ridgeline::cuda
