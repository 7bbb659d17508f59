// The plan: every arithmetic, every memory level and direction, the sweep, launch costs, copies.
// What a device cannot do is in the plan too, with the reason.
#include "kernels/cuda/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"

namespace ridgeline::cuda {
namespace {

// "mma_fp16" of "mma_fp16_8": the name without its chains.
std::string family(const Kernel& kernel) {
  const std::string name(kernel.name);
  return kernel.role == Role::compute ? name.substr(0, name.find_last_of('_')) : name;
}

// Of a power of two: "32KiB".
std::string whole_bytes(std::uint64_t bytes) {
  const char* unit = "B";
  for (const char* larger : {"KiB", "MiB", "GiB"})
    if (bytes >= 1024) {
      bytes /= 1024;
      unit = larger;
    }
  return fmt::format("{}{}", bytes, unit);
}

// The words that select a row; "dram" selects its bandwidth, not the sweep.
std::vector<std::string> words_of(const PlannedTrial& trial) {
  const Kernel& kernel = trial.kernel();
  std::vector<std::string> words{std::string(to_string(trial.role)), trial.name()};
  if (trial.role == Role::transfer) {
    words.emplace_back(to_string(trial.transfer.kind));
    words.emplace_back(trial.transfer.host_memory());
    return words;
  }
  for (const Kernel* candidate : trial.candidates) words.emplace_back(candidate->name);
  words[1] = lower(words[1]);
  if (trial.role == Role::compute) {
    words.emplace_back(to_string(kernel.dtype));
    words.emplace_back(to_string(kernel.unit));
    if (kernel.sparse) words.emplace_back("sparse");
    if (kernel.fed) words.emplace_back("fed");
  }
  if (trial.role == Role::memory) {
    words.push_back(lower(to_string(kernel.level)));
    words.emplace_back(to_string(kernel.direction));
    if (kernel.level == Level::dram) words.emplace_back(to_string(trial.memory));
  }
  return words;
}

// Shapes of another generation are not missing here: what cannot run is listed once per arithmetic,
// and only if nothing else does it.
void drop_other_generations(std::vector<PlannedTrial>& trials) {
  const auto all = trials;
  const auto arithmetic = [](const PlannedTrial& trial) {
    const Kernel& kernel = trial.kernel();
    return std::tuple(trial.role, kernel.unit, kernel.dtype, kernel.accumulate, kernel.sparse,
                      kernel.fed);
  };
  std::erase_if(trials, [&](const PlannedTrial& trial) {
    if (trial.missing.empty() || trial.role != Role::compute) return false;
    const auto runs_or_is_first = [&](const PlannedTrial& other) {
      return arithmetic(other) == arithmetic(trial) &&
             (other.missing.empty() || &other.kernel() < &trial.kernel());
    };
    return std::ranges::any_of(all, runs_or_is_first);
  });
}

// A rate that only another instruction has stands beside that of mma.sync, marked as not measured.
void add_full_rates(std::vector<PlannedTrial>& trials, int architecture) {
  const auto arithmetic = [](const PlannedTrial& trial) {
    const Kernel& kernel = trial.kernel();
    return std::tuple(kernel.unit, kernel.dtype, kernel.accumulate, kernel.sparse, kernel.fed);
  };
  std::vector<PlannedTrial> all;
  for (const PlannedTrial& trial : trials) {
    const std::string_view instruction = faster_instruction(trial.kernel(), architecture);
    all.push_back(trial);
    const auto is_the_fastest = [&](const PlannedTrial& other) {
      return other.role == Role::compute && other.missing.empty() &&
             arithmetic(other) == arithmetic(trial) &&
             faster_instruction(other.kernel(), architecture).empty();
    };
    if (instruction.empty() || trial.kernel().fed || std::ranges::any_of(trials, is_the_fastest))
      continue;
    PlannedTrial faster = trial;
    faster.instruction = instruction;
    faster.missing = fmt::format(
        "the full rate of sm_{} needs {}, for which there is no such kernel; rates are those of {}",
        architecture, instruction,
        trial.kernel().ptx.starts_with("tcgen05") ? "K = 64" : "mma.sync");
    all.push_back(std::move(faster));
  }
  trials = std::move(all);
}

// A Jetson has three ways to one DRAM; elsewhere pinned memory is the host's, behind a bus that the
// copy engines measure, and managed memory moves from one to the other.
void add_memory_kinds(std::vector<PlannedTrial>& trials, const PlannedTrial& trial, bool quick) {
  const Kernel& kernel = trial.kernel();
  if (kernel.role != Role::memory || kernel.level != Level::dram ||
      kernel.direction == Direction::random)
    return;
  if (quick && kernel.direction != Direction::read && kernel.direction != Direction::copy) return;
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::managed}) {
    trials.push_back(trial);
    trials.back().memory = kind;
  }
}

constexpr std::uint64_t first_step = 8 * 1024, quick_l1_step = 16 * 1024;
constexpr std::uint64_t chained_pages = 512;  // 1 GiB
// A set that is used again and again in one order hits a cache of an eighth of it in less than one
// of a thousand loads, even if the cache replaces lines at random.
constexpr std::uint64_t last_step_l2 = 8;

// Powers of two, from what L1 holds to what L2 does not hold.
std::vector<Chain> chains_for(const Kernel& kernel, const DeviceFacts& facts, bool quick) {
  if (kernel.level == Level::l2) return {{chained_pages, Chain::page_bytes}};
  const std::uint64_t l2 = facts.l2_bytes > 0 ? facts.l2_bytes : std::uint64_t{4} << 20;
  const std::uint64_t last = std::bit_floor(last_step_l2 * l2);
  std::vector<Chain> chains;
  if (quick)
    for (const std::uint64_t bytes : {quick_l1_step, std::bit_floor(l2 / 2), last})
      chains.push_back({bytes / Chain::line_bytes});
  else
    for (std::uint64_t bytes = first_step; bytes <= last; bytes *= 2)
      chains.push_back({bytes / Chain::line_bytes});
  return chains;
}

void add_transfers(std::vector<PlannedTrial>& trials, const Kernel& empty,
                   const std::string& missing) {
  for (const bool pinned : {true, false})
    for (const TransferKind kind :
         {TransferKind::host_to_device, TransferKind::device_to_host, TransferKind::both}) {
      trials.push_back({Role::transfer, {&empty}, {}, missing});
      trials.back().transfer = {kind, pinned};
    }
}

void keep_only(const std::vector<std::string>& only, std::vector<PlannedTrial>& trials) {
  std::set<std::string> known;
  for (const PlannedTrial& trial : trials)
    for (std::string& word : words_of(trial)) known.insert(std::move(word));
  for (const std::string& word : only) {
    if (known.contains(lower(word))) continue;
    const auto near = nearest(lower(word), {known.begin(), known.end()});
    throw usage_error(
        "--only " + word, "no kernel, section, dtype, level or direction of the GPU has this name",
        near ? "did you mean '" + *near + "'?" : "see 'ridgeline measure --gpu --list'");
  }
  std::erase_if(trials, [&](const PlannedTrial& trial) {
    const auto words = words_of(trial);
    return std::ranges::none_of(only, [&](const std::string& word) {
      return std::ranges::find(words, lower(word)) != words.end();
    });
  });
}

}  // namespace

std::string_view to_string(LaunchKind kind) {
  switch (kind) {
    case LaunchKind::async_launch:
      return "async_launch";
    case LaunchKind::round_trip:
      return "round_trip";
    case LaunchKind::graph_node:
      return "graph_node";
  }
  return "?";
}

// Sources: PTX ISA, "Asynchronous warpgroup level matrix instructions" (sm_90a) and "tcgen05"
// (sm_100a, sm_103a, sm_110a). Which types tcgen05.mma takes was tried with ptxas of CUDA 13.0.
std::string_view faster_instruction(const Kernel& kernel, int architecture) {
  if (kernel.role != Role::compute || kernel.unit != Unit::matrix) return {};
  // K = 96 instead of 64 in the same time (CUTLASS, mma_sm100_desc.hpp, "k_size"), as GB300's 15
  // PFLOP/s of FP4 beside 5 of FP8 say.
  if (kernel.dtype == DType::fp4 && architecture == 103) return "tcgen05_k96";
  if (kernel.ptx.starts_with("wgmma") || kernel.ptx.starts_with("tcgen05")) return {};
  // m8n8k4 runs at half the rate of m16n8k16 there.
  if (kernel.dtype == DType::fp64 && architecture == 90 && kernel.flop_each == 512)
    return "mma_k16";
  switch (kernel.dtype) {
    case DType::fp16:
    case DType::bf16:
    case DType::tf32:
    case DType::fp8:
      break;
    case DType::int8:
      if (architecture == 103) return {};  // ptxas: ".kind::i8 not supported"
      break;
    default:
      return {};  // FP64 and INT4 are mma.sync's alone
  }
  if (architecture >= 90 && architecture < 100) return "wgmma";
  if (architecture >= 100 && architecture < 120) return "tcgen05";
  return {};
}

std::optional<Level> level_of(const Chain& chain, const DeviceFacts& facts) {
  const std::uint64_t bytes = chain.bytes();
  if (chain.stride != Chain::line_bytes || facts.l2_bytes == 0) return std::nullopt;
  if (bytes <= facts.l1_bytes / 2) return Level::l1;
  if (bytes <= facts.l1_bytes) return std::nullopt;
  if (bytes <= facts.l2_bytes / 2) return Level::l2;
  if (bytes >= 4 * facts.l2_bytes) return Level::dram;
  return std::nullopt;
}

std::string PlannedTrial::name() const {
  if (role == Role::launch) return std::string(to_string(launch));
  if (role == Role::transfer)
    return fmt::format("{}_{}", to_string(transfer.kind), transfer.host_memory());
  if (role == Role::latency)  // "chase_32KiB", "chase_pages_1GiB"
    return fmt::format("{}_{}", kernel().name, whole_bytes(chain.bytes()));
  std::string name = family(kernel());
  if (memory != MemoryKind::device) name += fmt::format("_{}", to_string(memory));
  if (instruction.empty()) return name;
  // "wgmma_fp16" beside "mma_fp16", "wgmma_sparse_fp16" beside "sparse_fp16".
  for (const std::string_view form : {"mma_", "tcgen05_"})
    if (name.starts_with(form)) name.erase(0, form.size());
  return fmt::format("{}_{}", instruction, name);
}

std::string PlannedTrial::what() const {
  switch (role) {
    case Role::compute:
      return fmt::format("{} {}{}", to_string(kernel().unit), to_string(kernel().dtype),
                         kernel().sparse ? ", 2:4 sparse"
                         : kernel().fed  ? ", from shared memory"
                                         : "");
    case Role::memory:
      return fmt::format("{} {}{}", to_string(kernel().level), to_string(kernel().direction),
                         memory == MemoryKind::pinned    ? ", pinned memory"
                         : memory == MemoryKind::managed ? ", managed memory"
                                                         : "");
    case Role::sweep:
      return fmt::format("DRAM + {} FMA fp32", kernel().fma_per_element);
    case Role::latency:
      return kernel().level == Level::l2
                 ? "dependent loads, one line in each 2 MiB of " + whole_bytes(chain.bytes())
                 : "dependent loads in " + whole_bytes(chain.bytes());
    case Role::launch:
      return "empty kernel";
    case Role::transfer:
      return fmt::format("{}, {} memory",
                         transfer.kind == TransferKind::host_to_device   ? "host to device"
                         : transfer.kind == TransferKind::device_to_host ? "device to host"
                                                                         : "both ways at once",
                         transfer.host_memory());
  }
  return {};
}

std::string why_missing(const Kernel& kernel, int architecture, const Support& support) {
  const Architectures& runs = kernel.architectures;
  if (architecture == 0) return support(kernel).missing;  // no device: the plan only
  if (architecture >= runs.emulated_first && architecture <= runs.emulated_last)
    return kernel.ptx.starts_with("tcgen05")
               ? fmt::format("sm_{} has no such instruction", architecture)
               : fmt::format("mma.sync of sm_{} makes it out of other instructions", architecture);
  if (architecture < runs.first) return fmt::format("needs sm_{} or newer", runs.first);
  if (!runs.include(architecture))
    return fmt::format("sm_{} has no such instruction any more", architecture);
  return support(kernel).missing;
}

std::vector<PlannedTrial> plan(const MeasureOptions& options, const DeviceFacts& facts,
                               const Support& support) {
  const int architecture = facts.architecture;
  const bool without_device = architecture == 0;
  std::vector<PlannedTrial> trials;
  for (const Kernel& kernel : kernel_table()) {
    const std::string missing = why_missing(kernel, architecture, support);
    if (kernel.role == Role::launch) {
      for (const LaunchKind kind :
           {LaunchKind::async_launch, LaunchKind::round_trip, LaunchKind::graph_node})
        trials.push_back({Role::launch, {&kernel}, kind, missing});
      if (without_device || !facts.integrated) add_transfers(trials, kernel, missing);
      continue;
    }
    if (kernel.role == Role::latency) {
      for (const Chain& chain : chains_for(kernel, facts, options.quick)) {
        trials.push_back({Role::latency, {&kernel}, {}, missing});
        trials.back().chain = chain;
      }
      continue;
    }
    if (options.quick && (kernel.sparse || kernel.fed)) continue;
    const auto same = std::ranges::find_if(trials, [&](const PlannedTrial& trial) {
      return trial.role == kernel.role && family(trial.kernel()) == family(kernel);
    });
    if (same != trials.end()) {
      same->candidates.push_back(&kernel);
      continue;
    }
    const PlannedTrial trial{kernel.role, {&kernel}, {}, missing};
    trials.push_back(trial);
    if (without_device || facts.integrated) add_memory_kinds(trials, trial, options.quick);
  }
  drop_other_generations(trials);
  add_full_rates(trials, architecture);
  if (options.quick)
    std::erase_if(trials, [](const PlannedTrial& trial) {
      const int n = trial.kernel().fma_per_element;
      return trial.role == Role::sweep && n != 0 && n != 16 && n != 64 && n != 256;
    });
  if (!options.only.empty()) keep_only(options.only, trials);
  return trials;
}

}  // namespace ridgeline::cuda
