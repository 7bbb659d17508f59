// The order of non-temporal writes: which there are, which one is taken, and that a run uses it.
#include "kernels/cpu/write_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <thread>

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

TEST(WritePattern, ThePlannedOneIsFirstAndAllDoTheSame) {
  const auto patterns = write_patterns(widest_write());
  EXPECT_EQ(patterns.front(), &widest_write());
  std::set<std::string_view> names;
  for (const Kernel* kernel : patterns) {
    EXPECT_EQ(kernel->direction, Direction::nt_write);
    EXPECT_EQ(kernel->loads, 0);
    EXPECT_TRUE(isa_support(kernel->isa).runs);
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
  }
#if defined(__x86_64__)
  EXPECT_GE(patterns.size(), 4u);
  EXPECT_TRUE(names.contains("nt_write_4_sse4"));
  EXPECT_TRUE(names.contains("nt_write_ahead_sse4"));
#endif
}

TEST(WritePattern, OtherKernelsHaveNoChoice) {
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.direction == Direction::nt_write) continue;
    EXPECT_EQ(write_patterns(kernel).size(), 1u) << kernel.name;
  }
}

// Different small pages of their large pages, and the buffer's parts stay apart.
TEST(WritePattern, ThreadsApartShareNoPlaceOfALargePage) {
  for (const int threads : {2, 3, 4, 6, 12, 64, 128}) {
    std::set<std::uint64_t> places;
    std::uint64_t last = 0;
    for (int thread = 0; thread < threads; ++thread) {
      const std::uint64_t place = apart_bytes(thread, threads);
      EXPECT_EQ(place % 4096, 0u);
      EXPECT_LT(place, std::uint64_t{2} << 20);
      EXPECT_TRUE(thread == 0 || place > last) << threads;
      last = place;
      places.insert(place);
    }
    EXPECT_EQ(places.size(), static_cast<std::size_t>(threads));
  }
  EXPECT_EQ(apart_bytes(0, 1), 0u);
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

void expect_patterns_in_dram_alone(const Topology& topology) {
  MeasureOptions options;
  options.available_bytes = std::uint64_t{256} << 20;
  options.only = {"memory"};
  const std::vector<PlannedTrial> trials = plan(options, topology);
  Bench bench(trials, options, topology);
  auto runs = bench.trials();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const bool is_write = trials[i].kernel->direction == Direction::nt_write;
    const bool in_dram = trials[i].set.level == Level::dram;
    if (!is_write && !(in_dram && trials[i].kernel->direction == Direction::copy)) continue;
    EXPECT_EQ(bench.kernel(i), trials[i].kernel);
    EXPECT_GT(runs[i].run().rate, 0) << trials[i].what();
    if (is_write && in_dram) {
      const auto patterns = write_patterns(*trials[i].kernel);
      EXPECT_NE(std::ranges::find(patterns, bench.kernel(i)), patterns.end());
    } else {
      EXPECT_EQ(bench.kernel(i), trials[i].kernel) << trials[i].what();
    }
  }
}

TEST(WritePattern, ARunInDramUsesAPatternAndOthersStayAsPlanned) {
  expect_patterns_in_dram_alone(small_machine(1));
  if (std::thread::hardware_concurrency() > 1) expect_patterns_in_dram_alone(small_machine(2));
}

}  // namespace
}  // namespace ridgeline::cpu
