// MemoryFit: the memory that a run needs beside what the machine has to give. The network's share
// is counted (base/run_memory.h); what the runtime takes and what the system leaves are assumed,
// with an interval and its source.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/machine_model.h"
#include "base/run_memory.h"
#include "base/runtime.h"
#include "base/tokens.h"

namespace ridgeline {

// tight: needed and usable memory differ by less than the uncertainty of what is assumed of both.
enum class MemoryVerdict { fits, tight, exceeds };

template <>
struct TokenTable<MemoryVerdict> {
  static constexpr std::string_view noun = "verdict on memory";
  static constexpr std::array<std::pair<MemoryVerdict, std::string_view>, 3> rows{
      {{MemoryVerdict::fits, "fits"},
       {MemoryVerdict::tight, "tight"},
       {MemoryVerdict::exceeds, "exceeds"}}};
};

// Bytes with the reason for their value.
struct MemoryAmount {
  Estimate bytes;
  std::string origin;
};

// What the machine has left for a run: the memory that the system or the driver shows, less what
// others hold. Nullopt if the size of its memory is unknown.
std::optional<MemoryAmount> usable_memory(const MachineModel& model);

// As the user measured it, for example with `free`.
MemoryAmount given_memory(double bytes, std::string origin);

// What the runtime takes beside the tensors of a network: CUDA context, code of kernels, libraries
// and their workspaces; on a machine whose GPU shares the memory of the CPU, the process too.
MemoryAmount runtime_memory(const MachineModel& model, Runtime runtime);

struct MemoryFit {
  RunMemory network;     // counted
  MemoryAmount runtime;  // of all runtimes together
  Estimate needed;
  MemoryAmount usable;

  MemoryVerdict verdict() const;
  bool is_expected() const { return needed.value <= usable.bytes.value; }
};

// `runtimes`: one per network that runs at the same time.
MemoryFit memory_fit(const MachineModel& model, const RunMemory& network,
                     std::span<const Runtime> runtimes, const MemoryAmount& usable);

// "3.40 GB (2.90 GB to 4.60 GB)".
std::string memory_range_text(const Estimate& bytes);

// "weights 102 MB, activations 31 MB, runtime 1.00 GB", without the parts that are zero.
std::string parts_text(const MemoryFit& fit);

// "needs 3.40 GB (2.90 GB to 4.60 GB), usable are 3.15 GB (2.45 GB to 3.70 GB)".
std::string comparison_text(const MemoryFit& fit);

Json to_json(const MemoryFit& fit);

}  // namespace ridgeline
