// No rule of a microarchitecture is built in: on a Zen 5, 64-byte stores are 1.7 times as fast as
// 32-byte ones, four streams 1.1 times as fast as one on two cores, and without large pages the
// touch of the next page doubles the rate (docs/peers.md).
#include "kernels/cpu/write_pattern.h"

#include "base/statistics.h"
#include "kernels/cpu/isa.h"

namespace ridgeline::cpu {

std::vector<const Kernel*> write_patterns(const Kernel& planned) {
  std::vector<const Kernel*> patterns{&planned};
  if (planned.role != Role::memory || planned.direction != Direction::nt_write) return patterns;
  for (const Kernel& kernel : kernel_table())
    if (kernel.role == planned.role && kernel.direction == planned.direction &&
        kernel.name != planned.name && isa_support(kernel.isa).runs)
      patterns.push_back(&kernel);
  return patterns;
}

std::uint64_t apart_bytes(int thread, int threads) {
  constexpr std::uint64_t small = 4096, large = std::uint64_t{2} << 20;
  const auto part =
      static_cast<std::uint64_t>(thread) * large / static_cast<std::uint64_t>(threads);
  // An odd number of small pages, so that no power of two stays between two threads.
  return thread == 0 ? 0 : (part / small | 1) * small;
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
