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

inline constexpr std::uint64_t large_page_bytes = std::uint64_t{2} << 20;

struct WritePattern {
  const Kernel* kernel = nullptr;
  bool apart = false;  // threads at different places of their large pages

  bool operator==(const WritePattern&) const = default;
};

// The kernels that do the same as `planned`, which comes first, and run here; with more than one
// thread each of them again with the threads apart, if each of their parts of a buffer has room for
// it. Only `planned` itself unless it is a non-temporal write.
std::vector<WritePattern> write_patterns(const Kernel& planned, int threads,
                                         std::uint64_t part_bytes);

// Threads at one place of their large pages write to addresses that may choose the same bank of
// DRAM, which then changes its row again and again. Apart, each starts at this distance from the
// first thread within a large page: equal steps of an odd number of small pages, so that no two of
// up to 170 threads are a power of two apart.
std::uint64_t place_apart(int thread, int threads);

// How far behind the start of its part a thread then starts, if parts follow each other: less than
// a large page.
std::uint64_t apart_bytes(int thread, int threads, std::uint64_t part_bytes);

// Index of the pattern with the highest upper quartile of its readings; the first one unless
// another is faster by more than a hundredth, so that equal ones do not take turns from run to run.
std::size_t fastest_pattern(std::span<const std::vector<double>> rates);

}  // namespace ridgeline::cpu
