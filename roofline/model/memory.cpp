// Assumed amounts are tables with their sources.
#include "roofline/model/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json.h"
#include "base/units.h"

namespace ridgeline {
namespace {

// Where the memory of a run is, which decides what else is in there.
enum class MemoryPlace { shared, card, host };

MemoryPlace memory_place(const MachineModel& model) {
  if (!find_parameter(model, "gpu_multiprocessors")) return MemoryPlace::host;
  return find_parameter(model, "cpu0_cores") ? MemoryPlace::shared : MemoryPlace::card;
}

// Bytes, low to high.
struct AssumedMemory {
  double value, low, high;
  std::string_view origin;
};

// Held by the system and its desktop while the network runs.
AssumedMemory system_memory(MemoryPlace place) {
  switch (place) {
    case MemoryPlace::shared:
      // Idle boards in published lines of tegrastats: 645 to 930 MiB on Orin Nano and 796 to
      // 1224 MiB on Orin NX without a desktop, 1456 to 1738 MiB on Nano with one. Jetson Nano:
      // 1.5 GB with the desktop and 0.3 to 0.5 GB over ssh (microsoft/onnxruntime#4259).
      return {1.0e9, 0.4e9, 1.8e9, "system and desktop, as on idle Jetsons"};
    case MemoryPlace::card:
      // A server's card holds nothing else, a desktop a few hundred megabytes.
      return {0.1e9, 0, 0.6e9, "a desktop on the card"};
    case MemoryPlace::host:
      return {1.0e9, 0.3e9, 3.0e9, "system and desktop"};
  }
  return {0, 0, 0, ""};
}

// Share of the nominal memory that is visible, where the catalog does not state it.
AssumedMemory visible_share(MemoryPlace place) {
  // Nine Jetsons whose share the catalog knows are between 0.930 and 0.974.
  if (place == MemoryPlace::shared) return {0.95, 0.92, 0.975, "as of other Jetsons"};
  // RTX 3090 and 4090: 0.985 to 0.988. Cards with GDDR and ECC show 15/16 of it (nvidia-smi of A10:
  // 23028 of 24576 MiB), and the driver takes as much as on the others.
  return {0.96, 0.92, 0.988, "as of other cards"};
}

AssumedMemory runtime_share(MemoryPlace place, Runtime runtime) {
  if (runtime == Runtime::ideal) return {0, 0, 0, "a bound: no runtime"};
  const bool is_torch = runtime != Runtime::tensorrt && runtime != Runtime::onnxruntime;
  switch (place) {
    case MemoryPlace::card:
      // CUDA context and kernels of PyTorch: 300 to 400 MB since CUDA 11.7 loads kernels when they
      // are first used (pytorch/pytorch#107667, #109888), 1008 MB before on a Titan V, of which
      // 320 MB are the context (#28394).
      if (is_torch) return {0.5e9, 0.3e9, 1.2e9, "CUDA context, kernels and workspaces of PyTorch"};
      // Published logs of TensorRT have 223 to 427 MiB on the GPU after its start; cuDNN and
      // cuBLAS, which releases up to 8.x load, add as much again.
      return {0.5e9, 0.25e9, 1.0e9, "CUDA context, engine kernels and workspaces"};
    case MemoryPlace::shared:
      // The same and the process: 322 MB after `import torch` (pytorch/pytorch#113326), 1.1 GB of
      // host memory when CUDA starts with all kernels at once (#12873).
      if (is_torch) return {1.0e9, 0.5e9, 2.0e9, "PyTorch's process, CUDA context and kernels"};
      // 0.2 to 0.3 GB of host memory for CUDA in the same logs; about 2 GB in all on Jetson Nano
      // with TensorRT below ONNX Runtime (microsoft/onnxruntime#4259).
      return {0.8e9, 0.3e9, 2.0e9, "the process, CUDA context and engine kernels"};
    case MemoryPlace::host:
      if (is_torch) return {0.4e9, 0.2e9, 0.8e9, "PyTorch's process (pytorch/pytorch#113326)"};
      return {0.2e9, 0.05e9, 0.5e9, "the process and its libraries"};
  }
  return {0, 0, 0, ""};
}

// Blocks that an allocator holds beside the tensors, as a share of what it hands out again and
// again. Messages of PyTorch when memory runs out: 1.0 GiB reserved beside 19.75 GiB allocated
// (ali-vilab/VGen#104), 2.6 beside 28.3 (siliconflow/onediff#1041).
constexpr AssumedMemory allocator_share{0.05, 0, 0.15, ""};

std::string gigabytes(double bytes) { return format_si(bytes, "B"); }

std::vector<std::pair<const char*, double>> parts_of(const RunMemory& memory) {
  return {{"weights", memory.weights},
          {"master_weights", memory.master_weights},
          {"gradients", memory.gradients},
          {"optimizer_state", memory.optimizer_state},
          {"activations", memory.activations},
          {"transient", memory.transient},
          {"caches", memory.caches}};
}

}  // namespace

std::optional<MemoryAmount> usable_memory(const MachineModel& model) {
  const MemoryPlace place = memory_place(model);
  const auto visible = find_parameter(model, "memory_visible_bytes");
  const auto nominal = find_parameter(model, "memory_bytes");
  if (!visible && !nominal) return std::nullopt;
  const double whole = model.parameters[visible ? *visible : *nominal].mean;
  const AssumedMemory share = visible ? AssumedMemory{1, 1, 1, ""} : visible_share(place);
  const AssumedMemory system = system_memory(place);
  MemoryAmount usable;
  usable.bytes = {std::max(0.0, share.value * whole - system.value),
                  std::max(0.0, share.low * whole - system.high),
                  std::max(0.0, share.high * whole - system.low), Source::assumed};
  usable.origin = visible
                      ? fmt::format("{} visible", gigabytes(whole))
                      : fmt::format("{} of {} assumed to be visible, {},",
                                    format_percent(share.value), gigabytes(whole), share.origin);
  usable.origin += fmt::format(" less {} assumed for {}", gigabytes(system.value), system.origin);
  return usable;
}

MemoryAmount given_memory(double bytes, std::string origin) {
  return {exact(bytes, Source::measured), std::move(origin)};
}

MemoryAmount runtime_memory(const MachineModel& model, Runtime runtime) {
  const AssumedMemory share = runtime_share(memory_place(model), runtime);
  return {{share.value, share.low, share.high, Source::assumed}, std::string(share.origin)};
}

// What a runtime takes and what a system leaves are independent, so their errors add as squares.
MemoryVerdict MemoryFit::verdict() const {
  const Estimate& given = usable.bytes;
  const double missing = needed.value - given.value;
  if (missing > std::hypot(needed.value - needed.low, given.high - given.value))
    return MemoryVerdict::exceeds;
  return missing > -std::hypot(needed.high - needed.value, given.value - given.low)
             ? MemoryVerdict::tight
             : MemoryVerdict::fits;
}

MemoryFit memory_fit(const MachineModel& model, const RunMemory& network,
                     std::span<const Runtime> runtimes, const MemoryAmount& usable) {
  MemoryFit fit;
  fit.network = network;
  fit.usable = usable;
  for (const Runtime runtime : runtimes) {
    const MemoryAmount share = runtime_memory(model, runtime);
    Estimate& all = fit.runtime.bytes;
    all = {all.value + share.bytes.value, all.low + share.bytes.low, all.high + share.bytes.high,
           Source::assumed};
    if (!fit.runtime.origin.empty()) fit.runtime.origin += "; ";
    fit.runtime.origin += fmt::format("{}: {}", to_string(runtime), share.origin);
  }
  const double peak = network.peak();
  const double handed_out = network.activations + network.transient + network.gradients;
  const Estimate& all = fit.runtime.bytes;
  fit.needed = {peak + allocator_share.value * handed_out + all.value,
                peak + allocator_share.low * handed_out + all.low,
                peak + allocator_share.high * handed_out + all.high, Source::predicted};
  return fit;
}

std::string memory_range_text(const Estimate& estimate) {
  const std::string value = gigabytes(estimate.value);
  if (!(estimate.low < estimate.high)) return value;
  return fmt::format("{} ({} to {})", value, gigabytes(estimate.low), gigabytes(estimate.high));
}

std::string parts_text(const MemoryFit& fit) {
  std::string text;
  for (const auto& [name, bytes] : parts_of(fit.network)) {
    if (bytes <= 0) continue;
    std::string words = name == std::string_view("transient") ? "gradients of activations" : name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words, gigabytes(bytes));
  }
  if (fit.runtime.bytes.value > 0)
    text += fmt::format("{}runtime {} (assumed)", text.empty() ? "" : ", ",
                        gigabytes(fit.runtime.bytes.value));
  return text;
}

std::string comparison_text(const MemoryFit& fit) {
  return fmt::format("needs {}, usable are {}", memory_range_text(fit.needed),
                     memory_range_text(fit.usable.bytes));
}

Json to_json(const MemoryFit& fit) {
  Json parts = Json::object();
  for (const auto& [name, bytes] : parts_of(fit.network)) parts[name] = bytes;
  return {
      {"verdict", to_string(fit.verdict())},
      {"needed", to_json(fit.needed)},
      {"parts", std::move(parts)},
      {"activations_without_reuse", fit.network.unshared > 0 ? Json(fit.network.unshared) : Json()},
      {"runtime", to_json(fit.runtime.bytes)},
      {"runtime_origin", fit.runtime.origin},
      {"usable", to_json(fit.usable.bytes)},
      {"usable_origin", fit.usable.origin}};
}

}  // namespace ridgeline
