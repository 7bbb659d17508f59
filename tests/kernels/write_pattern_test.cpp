// The order of non-temporal writes: which there are, which one is taken, and that a run uses it.
#include "kernels/cpu/write_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

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

Topology one_core() {
  Topology topology;
  topology.cpus = {0};
  topology.cores = 1;
  topology.caches = {{Level::l1, 32 << 10, 1, 1, 64}, {Level::l2, 256 << 10, 1, 1, 64}};
  return topology;
}

TEST(WritePattern, ARunInDramUsesAPatternAndOthersStayAsPlanned) {
  MeasureOptions options;
  options.available_bytes = std::uint64_t{256} << 20;
  options.only = {"memory"};
  const Topology topology = one_core();
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

}  // namespace
}  // namespace ridgeline::cpu
