// How large the data of a memory kernel must be to live in one level of the hierarchy.
// A pure function of cache sizes, thread count and free memory; allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/machine.h"

namespace ridgeline::cpu {

struct WorkingSet {
  Level level = Level::dram;
  std::uint64_t bytes_per_thread = 0;
  bool too_small = false;  // less than four times the last cache: memory was short
};

// One entry per cache level that the machine has, and one for DRAM. A core's share of a cache is
// the same for any number of threads, so that rows differ in threads only.
//   L1:   half of it
//   L2/3: the geometric mean of twice the level below and half of a core's share of this one
//   DRAM: all threads together four times the last cache and at least 1 GiB, at most half of
//         the available memory
std::vector<WorkingSet> working_sets(const std::vector<Cache>& caches, int cores, int threads,
                                     std::uint64_t available_bytes);

// Bytes of the last-level caches of the whole machine.
std::uint64_t last_level_bytes(const std::vector<Cache>& caches);

// Steps of the latency ladder: powers of two from 4 KiB to four times the last cache (less where
// memory is short), or only the working set of each level if `quick`.
std::vector<std::uint64_t> latency_steps(const std::vector<Cache>& caches, int cores,
                                         std::uint64_t available_bytes, bool quick);

// The smallest level that holds a working set of one thread.
Level level_of(const std::vector<Cache>& caches, std::uint64_t bytes);

}  // namespace ridgeline::cpu
