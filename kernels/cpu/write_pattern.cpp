// No rule of a microarchitecture is built in: on a Zen 5, 64-byte stores are 1.7 times as fast as
// 32-byte ones, four streams 1.1 times as fast as one on two cores, and without large pages the
// touch of the next page doubles the rate (docs/peers.md).
#include "kernels/cpu/write_pattern.h"

#include <algorithm>

#include "base/statistics.h"
#include "kernels/cpu/isa.h"

namespace ridgeline::cpu {

std::vector<WritePattern> write_patterns(const Kernel& planned, int threads,
                                         std::uint64_t part_bytes) {
  std::vector<WritePattern> patterns{{&planned, false}};
  if (planned.role != Role::memory || planned.direction != Direction::nt_write) return patterns;
  for (const Kernel& kernel : kernel_table())
    if (kernel.role == planned.role && kernel.direction == planned.direction &&
        kernel.name != planned.name && isa_support(kernel.isa).runs)
      patterns.push_back({&kernel, false});
  if (threads == 1 || part_bytes < 2 * large_page_bytes) return patterns;
  const std::size_t kernels = patterns.size();
  for (std::size_t i = 0; i < kernels; ++i) patterns.push_back({patterns[i].kernel, true});
  return patterns;
}

std::uint64_t place_apart(int thread, int threads) {
  constexpr std::uint64_t small_page = 4096, places = large_page_bytes / small_page;
  const std::uint64_t share =
      std::max<std::uint64_t>(places / static_cast<std::uint64_t>(threads), 1);
  // The largest odd number in a thread's share: a multiple of it is no power of two.
  const std::uint64_t stride = (share - 1) | 1;
  return static_cast<std::uint64_t>(thread) * stride % places * small_page;
}

std::uint64_t apart_bytes(int thread, int threads, std::uint64_t part_bytes) {
  const std::uint64_t lies = part_bytes * static_cast<std::uint64_t>(thread) % large_page_bytes;
  return (large_page_bytes + place_apart(thread, threads) - lies) % large_page_bytes;
}

std::size_t fastest_pattern(std::span<const std::vector<double>> rates) {
  constexpr double surely = 1.01;
  // Other programs only make a window slower, so the upper readings count; not the very highest.
  constexpr double upper = 0.75;
  std::size_t best = 0;
  double most = rates.empty() ? 0 : surely * quantile(rates[0], upper);
  for (std::size_t i = 1; i < rates.size(); ++i) {
    const double rate = quantile(rates[i], upper);
    if (rate <= most) continue;
    best = i;
    most = rate;
  }
  return best;
}

}  // namespace ridgeline::cpu
