// Which kernels to run on a CUDA device. A pure function of options, table and device facts.
// Kernels that differ in chains alone are one trial: the fastest is found out and published.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/chain.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/kernel.h"
#include "kernels/cuda/transfer.h"

namespace ridgeline::cuda {

enum class LaunchKind { async_launch, round_trip, graph_node };
std::string_view to_string(LaunchKind kind);

struct MeasureOptions {
  bool quick = false;
  double budget_s = 0;                   // 0 = the default of quick or full
  std::vector<std::string> only = {};    // words of which a row must match one; empty = everything
  double window_s = 3e-3;                // timed, at least
  std::optional<double> sustain_s = {};  // that a peak is held; absent: 5 s in full runs, else not
};

struct PlannedTrial {
  Role role = Role::compute;
  std::vector<const Kernel*> candidates;  // at least one; of transfers the one that does nothing
  LaunchKind launch = LaunchKind::async_launch;
  std::string missing = {};                // why it cannot run here; empty = it can
  MemoryKind memory = MemoryKind::device;  // that a DRAM row goes through
  Transfer transfer = {};                  //
  Chain chain = {};                        // of a latency row
  std::string_view instruction = {};       // "wgmma": has the full rate; its row is a reason only

  const Kernel& kernel() const { return *candidates.front(); }
  std::string name() const;  // "fma_fp32", "read_dram", "read_dram_pinned", "async_launch"
  std::string what() const;  // "fp32", "DRAM read", "DRAM + 16 FMA fp32", "empty kernel"
};

using Support = std::function<CodeSupport(const Kernel&)>;

// Why a kernel cannot run on an architecture; empty where it can.
std::string why_missing(const Kernel& kernel, int architecture, const Support& support);

// The smallest cache that holds a chain for sure, or DRAM if no cache holds much of it; absent
// between the two, and for chains with one line per page, whose time is that of the TLB too.
std::optional<Level> level_of(const Chain& chain, const DeviceFacts& facts);

// The instruction that reaches a tensor rate which this kernel does not: "wgmma" or "tcgen05".
// Empty if the kernel is as fast as the device.
std::string_view faster_instruction(const Kernel& kernel, int architecture);

// Throws a usage error for an unknown word. Without a device the architecture is 0, and all that
// any device could do is planned.
std::vector<PlannedTrial> plan(const MeasureOptions& options, const DeviceFacts& facts,
                               const Support& support);

}  // namespace ridgeline::cuda
