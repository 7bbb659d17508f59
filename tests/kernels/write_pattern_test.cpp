// The order of non-temporal writes: which there are, which one is taken, and that a run uses it.
#include "kernels/cpu/write_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/cpu/bench.h"
#include "kernels/cpu/isa.h"

namespace ridgeline::cpu {
namespace {

const Kernel& widest_write() {
  const Kernel* widest = nullptr;
  for (const Kernel& kernel : kernel_table())
    if (kernel.role == Role::memory && kernel.direction == Direction::nt_write &&
        isa_support(kernel.isa).runs && (!widest || kernel.access_bytes > widest->access_bytes))
      widest = &kernel;
  return *widest;
}

constexpr std::uint64_t one_mib = std::uint64_t{1} << 20;

TEST(WritePattern, ThePlannedOneIsFirstAndAllDoTheSame) {
  const auto patterns = write_patterns(widest_write(), 1, 64 * one_mib);
  EXPECT_EQ(patterns.front().kernel, &widest_write());
  std::set<std::string_view> names;
  for (const auto& [kernel, apart] : patterns) {
    EXPECT_EQ(kernel->direction, Direction::nt_write);
    EXPECT_EQ(kernel->loads, 0);
    EXPECT_TRUE(isa_support(kernel->isa).runs);
    EXPECT_FALSE(apart);
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
  }
#if defined(__x86_64__)
  EXPECT_GE(patterns.size(), 4u);
  EXPECT_TRUE(names.contains("nt_write_4_sse4"));
  EXPECT_TRUE(names.contains("nt_write_ahead_sse4"));
#endif
}

// Also where the table has one kernel only, as on aarch64.
TEST(WritePattern, WithThreadsEachKernelComesAgainWithThemApart) {
  const auto alone = write_patterns(widest_write(), 1, 64 * one_mib);
  const auto shared = write_patterns(widest_write(), 2, 64 * one_mib);
  ASSERT_EQ(shared.size(), 2 * alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(shared[i], alone[i]);
    EXPECT_EQ(shared[alone.size() + i], (WritePattern{alone[i].kernel, true}));
  }
  // A part without room for it.
  EXPECT_EQ(write_patterns(widest_write(), 2, 3 * one_mib), alone);
}

TEST(WritePattern, OtherKernelsHaveNoChoice) {
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.direction == Direction::nt_write) continue;
    EXPECT_EQ(write_patterns(kernel, 2, 64 * one_mib).size(), 1u) << kernel.name;
  }
}

// Different small pages of one large page, no two a power of two apart, either way around.
TEST(WritePattern, ThreadsApartShareNoPlaceOfALargePage) {
  for (int threads = 2; threads <= 64; ++threads)
    for (int thread = 0; thread < threads; ++thread) {
      const std::uint64_t place = place_apart(thread, threads);
      EXPECT_EQ(place % 4096, 0u);
      EXPECT_LT(place, large_page_bytes);
      for (int other = 0; other < thread; ++other) {
        ASSERT_GT(place, place_apart(other, threads)) << threads;
        const std::uint64_t distance = place - place_apart(other, threads);
        EXPECT_FALSE(std::has_single_bit(distance)) << threads << ": " << thread << ", " << other;
        // The last of 33 steps of 15 pages ends 32 pages before the next large page.
        if (threads == 33 || threads == 34) continue;
        EXPECT_FALSE(std::has_single_bit(large_page_bytes - distance))
            << threads << ": " << thread << ", " << other;
      }
    }
  EXPECT_EQ(place_apart(0, 1), 0u);
  for (const int threads : {170, 512}) {
    std::set<std::uint64_t> places;
    for (int thread = 0; thread < threads; ++thread) places.insert(place_apart(thread, threads));
    EXPECT_EQ(places.size(), static_cast<std::size_t>(threads));
    EXPECT_LT(*places.rbegin(), large_page_bytes);
  }
}

// Parts start at one place of their large pages, or where the size of the buffer puts them.
TEST(WritePattern, ThreadsAreApartWhereverTheirPartsStart) {
  for (const std::uint64_t part : {64 * one_mib, 33 * one_mib, (1024 * one_mib / 3) / 4096 * 4096})
    for (const int threads : {2, 3, 4, 12})
      for (int thread = 0; thread < threads; ++thread) {
        const std::uint64_t moved = apart_bytes(thread, threads, part);
        EXPECT_LT(moved, large_page_bytes);
        EXPECT_EQ((part * static_cast<std::uint64_t>(thread) + moved) % large_page_bytes,
                  place_apart(thread, threads));
      }
}

TEST(WritePattern, TheHighestUpperQuartileWinsAndEqualOnesStayWithTheFirst) {
  const auto fastest = [](std::vector<std::vector<double>> rates) {
    return fastest_pattern(rates);
  };
  EXPECT_EQ(fastest({{10, 10, 10}}), 0u);
  EXPECT_EQ(fastest({{10, 10, 10}, {12, 12, 12}, {11, 11, 11}}), 1u);
  EXPECT_EQ(fastest({{10, 10, 10}, {11, 11, 11}, {12, 12, 12}}), 2u);
  // Slow readings are other programs', and one far above all others is none of the kernel.
  EXPECT_EQ(fastest({{1, 2, 10, 10, 10}, {9, 9, 9, 9, 9}}), 0u);
  EXPECT_EQ(fastest({{9, 9, 9, 9, 9}, {1, 2, 10, 10, 10}}), 1u);
  EXPECT_EQ(fastest({{10, 10, 10, 10, 10}, {9, 9, 9, 9, 100}}), 0u);
  EXPECT_EQ(fastest({{100, 100, 100}, {100.9, 100.9, 100.9}}), 0u);
  EXPECT_EQ(fastest({{100, 100, 100}, {101.1, 101.1, 101.1}}), 1u);
}

Topology small_machine(int cores) {
  Topology topology;
  for (int cpu = 0; cpu < cores; ++cpu) topology.cpus.push_back(cpu);
  topology.cores = cores;
  topology.caches = {{Level::l1, 32 << 10, 1, 1, 64}, {Level::l2, 256 << 10, 1, 1, 64}};
  return topology;
}

// The threads' places in their large pages, counted from that of the first.
std::vector<std::uint64_t> places_of(const Bench& bench, std::size_t index) {
  std::vector<std::uint64_t> places;
  const std::vector<const std::byte*> starts = bench.starts(index);
  for (const std::byte* start : starts)
    places.push_back(static_cast<std::uint64_t>(start - starts.front()) % large_page_bytes);
  return places;
}

void expect_apart_only_if_asked(Bench& bench, Trial& run, std::size_t index, const Kernel& kernel,
                                std::uint64_t part) {
  const auto threads = static_cast<int>(bench.starts(index).size());
  // More than a part is cut to what it holds.
  for (const std::uint64_t bytes : {4 * one_mib, 2 * part})
    for (const bool apart : {true, false}) {
      bench.use_pattern(index, {&kernel, apart}, bytes);
      EXPECT_GT(run.run().rate, 0);
      EXPECT_EQ(bench.pattern(index), (WritePattern{&kernel, apart}));
      for (int thread = 0; thread < threads; ++thread)
        EXPECT_EQ(places_of(bench, index)[static_cast<std::size_t>(thread)],
                  apart ? place_apart(thread, threads)
                        : part * static_cast<std::uint64_t>(thread) % large_page_bytes);
    }
}

void expect_patterns_in_dram_alone(const Topology& topology) {
  MeasureOptions options;
  // 128 MiB in DRAM: parts of two threads start at one place of their large pages.
  options.available_bytes = 256 * one_mib;
  options.only = {"memory"};
  const std::vector<PlannedTrial> trials = plan(options, topology);
  Bench bench(trials, options, topology);
  auto runs = bench.trials();
  int shared = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Kernel& planned = *trials[i].kernel;
    const bool is_write = planned.direction == Direction::nt_write;
    const bool in_dram = trials[i].set.level == Level::dram;
    if (!is_write && !(in_dram && planned.direction == Direction::copy)) continue;
    EXPECT_EQ(bench.pattern(i), (WritePattern{&planned, false}));
    EXPECT_GT(runs[i].run().rate, 0) << trials[i].what();
    if (!is_write || !in_dram) {
      EXPECT_EQ(bench.pattern(i), (WritePattern{&planned, false})) << trials[i].what();
      continue;
    }
    const std::uint64_t part = trials[i].set.bytes_per_thread;
    const auto patterns = write_patterns(planned, trials[i].threads, part);
    EXPECT_NE(std::ranges::find(patterns, bench.pattern(i)), patterns.end());
    EXPECT_EQ(patterns.back().apart, trials[i].threads > 1);
    if (trials[i].threads == 1) continue;
    ++shared;
    expect_apart_only_if_asked(bench, runs[i], i, planned, part);
  }
  EXPECT_EQ(shared, topology.cores > 1 ? 1 : 0);
}

TEST(WritePattern, ARunInDramUsesAPatternAndOthersStayAsPlanned) {
  expect_patterns_in_dram_alone(small_machine(1));
  if (std::thread::hardware_concurrency() > 1) expect_patterns_in_dram_alone(small_machine(2));
}

}  // namespace
}  // namespace ridgeline::cpu
