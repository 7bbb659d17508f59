// Working sets from cache sizes. Nothing is hard-coded but the rules: a fixed "large" buffer lies
// inside the last cache of many servers.
#include "kernels/cpu/working_set.h"

#include <algorithm>
#include <cmath>

namespace ridgeline::cpu {
namespace {

constexpr std::uint64_t kib = 1024, gib = kib * kib * kib;

std::uint64_t share(const Cache& cache, int cores) {
  const int sharers = std::clamp(cache.cores_per_instance, 1, std::max(cores, 1));
  return cache.bytes / static_cast<std::uint64_t>(sharers);
}

}  // namespace

std::uint64_t last_level_bytes(const std::vector<Cache>& caches) {
  if (caches.empty()) return 0;
  const Cache& last = caches.back();
  return last.bytes * static_cast<std::uint64_t>(std::max(last.instances, 1));
}

std::vector<WorkingSet> working_sets(const std::vector<Cache>& caches, int cores, int threads,
                                     std::uint64_t available_bytes) {
  std::vector<WorkingSet> sets;
  std::uint64_t below = 0;
  for (const Cache& cache : caches) {
    const std::uint64_t mine = share(cache, cores);
    if (below == 0) {
      sets.push_back({cache.level, mine / 2, false});
    } else {
      // A share smaller than the level below is possible where the levels exclude each other.
      const double low = 2.0 * double(below);
      const double high = std::max(0.5 * double(mine), 1.5 * double(below));
      sets.push_back({cache.level, static_cast<std::uint64_t>(std::sqrt(low * high)), false});
    }
    below = mine;
  }
  const std::uint64_t wanted = std::max(4 * last_level_bytes(caches), gib);
  const std::uint64_t total = std::min(wanted, available_bytes / 2);
  sets.push_back({Level::dram, total / static_cast<std::uint64_t>(std::max(threads, 1)),
                  total < 4 * last_level_bytes(caches)});
  return sets;
}

Level level_of(const std::vector<Cache>& caches, std::uint64_t bytes) {
  for (const Cache& cache : caches)
    if (bytes <= cache.bytes) return cache.level;
  return Level::dram;
}

std::vector<std::uint64_t> latency_steps(const std::vector<Cache>& caches, int cores,
                                         std::uint64_t available_bytes, bool quick) {
  const std::uint64_t largest =
      std::min(std::max(4 * last_level_bytes(caches), 64 * kib * kib), available_bytes / 2);
  std::vector<std::uint64_t> steps;
  if (quick) {
    for (const WorkingSet& set : working_sets(caches, cores, 1, available_bytes))
      if (set.level != Level::dram) steps.push_back(set.bytes_per_thread);
  } else {
    for (std::uint64_t bytes = 4 * kib; bytes < largest; bytes *= 2) steps.push_back(bytes);
  }
  std::erase_if(steps, [&](std::uint64_t bytes) { return bytes >= largest; });
  steps.push_back(largest);
  return steps;
}

}  // namespace ridgeline::cpu
