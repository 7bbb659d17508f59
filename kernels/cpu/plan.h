// Which kernels to run on this CPU, at which level and with how many threads.
// A pure function of options, kernel table and topology; nothing is allocated or run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devices/machine/topology.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/working_set.h"

namespace ridgeline::cpu {

enum class Section { compute, memory, sweep, latency, launch };
std::string_view to_string(Section section);

struct MeasureOptions {
  bool quick = false;
  double budget_s = 0;                // 0 = the default of quick or full
  std::vector<int> threads;           // empty = 1 and all cores (full: powers of two between, too)
  std::vector<std::string> only;      // words of which a row must match one; empty = everything
  double window_s = 3e-3;             // timed window of kernels that do not pass through DRAM
  std::uint64_t available_bytes = 0;  // memory that may be used
};

struct PlannedTrial {
  Section section = Section::compute;
  const Kernel* kernel = nullptr;  // nullptr for launch
  int threads = 1;
  WorkingSet set;       // memory, sweep, latency
  std::string missing;  // why it cannot run here; empty = it can

  std::string name() const;  // "fma_avx512_fp32" or "fork_join"
  std::string what() const;  // "fp32", "DRAM read", "DRAM + 16 FMA fp32", "chain of 24 KiB"
};

// The thread counts of the options, ascending; a usage error for more than there are
// cores.
std::vector<int> thread_counts(const MeasureOptions& options, const Topology& topology);

// Throws a usage error for more threads than cores, an unknown word, or words that match nothing.
std::vector<PlannedTrial> plan(const MeasureOptions& options, const Topology& topology);

// Indices of the trials, most important first: where time is short, the last ones are left out.
// Roofs and slopes of the whole processor come before points along the roof, those before rows of
// fewer threads. Arithmetic is first of all, since it needs no buffers: an early Ctrl-C finds rows.
std::vector<std::size_t> by_importance(const std::vector<PlannedTrial>& trials);

// The words that `only` understands.
std::vector<std::string> selection_words();

}  // namespace ridgeline::cpu
