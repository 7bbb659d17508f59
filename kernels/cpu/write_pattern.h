// Which order of non-temporal writes is the fastest on this machine: one stream or several, the
// next page touched ahead or not, 16, 32 or 64 bytes per store, threads at one place of their pages
// or apart. Chooses from readings; it runs
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/kernel.h"

namespace ridgeline::cpu {

// The kernels of this table that do the same as `planned`, which comes first, and run here; only
// itself unless it is a non-temporal write.
std::vector<const Kernel*> write_patterns(const Kernel& planned);

// How far a thread's part is moved if threads are not to write at one place of their large pages at
// once: there the addresses choose the same bank of DRAM, which then changes its row again and
// again. Whole small pages, all of them within one large page.
std::uint64_t apart_bytes(int thread, int threads);

// Index of the pattern with the highest upper quartile of its readings; the first one unless
// another is faster by more than a hundredth, so that equal ones do not take turns from run to run.
std::size_t fastest_pattern(std::span<const std::vector<double>> rates);

}  // namespace ridgeline::cpu
