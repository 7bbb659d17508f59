// The plan: what is measured by default, what words select, and what is refused.
#include "kernels/cpu/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"

namespace ridgeline::cpu {
namespace {

Topology four_cores() {
  Topology topology;
  topology.cpus = {0, 1, 2, 3};
  topology.cores = 4;
  topology.caches = {{Level::l1, 32 << 10, 4, 1, 64},
                     {Level::l2, 1 << 20, 4, 1, 64},
                     {Level::l3, 8 << 20, 1, 4, 64}};
  return topology;
}

MeasureOptions options(std::vector<std::string> only = {}) {
  MeasureOptions result;
  result.only = std::move(only);
  result.available_bytes = std::uint64_t{8} << 30;
  return result;
}

TEST(Plan, CoversEveryLevelAndDirection) {
  const auto trials = plan(options(), four_cores());
  std::set<std::pair<Level, Direction>> memory;
  std::set<Section> sections;
  for (const PlannedTrial& trial : trials) {
    sections.insert(trial.section);
    if (trial.section == Section::memory) memory.emplace(trial.set.level, trial.kernel->direction);
  }
  EXPECT_EQ(memory.size(), 4u * 6u);
  EXPECT_EQ(sections.size(), 5u);
}

TEST(Plan, EveryComputeKernelHasARowRunnableOrNot) {
  const auto trials = plan(options(), four_cores());
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role != Role::compute) continue;
    const auto row = std::ranges::find_if(
        trials, [&](const PlannedTrial& trial) { return trial.kernel == &kernel; });
    ASSERT_NE(row, trials.end()) << kernel.name;
    EXPECT_EQ(row->missing.empty(), isa_support(kernel.isa).runs) << kernel.name;
  }
}

TEST(Plan, ThreadCountsArePowersOfTwoUpToAllCores) {
  std::set<int> counts;
  for (const PlannedTrial& trial : plan(options({"fp64"}), four_cores()))
    counts.insert(trial.threads);
  EXPECT_EQ(counts, (std::set<int>{1, 2, 4}));
  MeasureOptions quick = options({"fp64"});
  quick.quick = true;
  counts.clear();
  for (const PlannedTrial& trial : plan(quick, four_cores())) counts.insert(trial.threads);
  EXPECT_EQ(counts, (std::set<int>{1, 4}));
}

TEST(Plan, WordsSelectRows) {
  for (const PlannedTrial& trial : plan(options({"fp32", "DRAM"}), four_cores())) {
    if (trial.section == Section::compute)
      EXPECT_EQ(trial.kernel->dtype, DType::fp32);
    else {
      EXPECT_EQ(trial.section, Section::memory);
      EXPECT_EQ(trial.set.level, Level::dram);
    }
  }
  for (const PlannedTrial& trial : plan(options({"launch"}), four_cores()))
    EXPECT_EQ(trial.section, Section::launch);
}

TEST(Plan, UnknownWordsOfferTheNearest) {
  try {
    plan(options({"drma"}), four_cores());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("'dram'"), std::string::npos) << error.what();
  }
}

TEST(Plan, MoreThreadsThanCoresAreRefused) {
  MeasureOptions wanted = options();
  for (const int threads : {0, -1, 5, 4096}) {
    wanted.threads = {threads};
    EXPECT_THROW(plan(wanted, four_cores()), Error) << threads;
  }
  wanted.threads = {3};
  for (const PlannedTrial& trial : plan(wanted, four_cores())) {
    if (trial.section != Section::latency) {
      EXPECT_EQ(trial.threads, 3);
    }
  }
}

TEST(Plan, NoMemoryForTheBuffersIsSaid) {
  MeasureOptions wanted = options();
  wanted.available_bytes = 1 << 20;
  try {
    plan(wanted, four_cores());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::error);
    EXPECT_NE(std::string(error.what()).find("no memory for the buffers: 1"), std::string::npos)
        << error.what();
  }
}

TEST(Plan, EverySelectionWordSelectsOrSaysThatNothingMatches) {
  for (const std::string& word : selection_words()) {
    try {
      EXPECT_FALSE(plan(options({word}), four_cores()).empty()) << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("nothing on this machine"), std::string::npos);
    }
  }
}

TEST(Plan, RoofsAndSlopesOfAllCoresAreTheMostImportant) {
  const auto trials = plan(options(), four_cores());
  const auto order = by_importance(trials);
  ASSERT_EQ(order.size(), trials.size());
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), trials.size());
  const auto position = [&](auto matches) {
    return std::ranges::find_if(order, [&](std::size_t i) { return matches(trials[i]); }) -
           order.begin();
  };
  const auto first = [&](Section section, int threads, std::optional<Level> level = {}) {
    return position([&](const PlannedTrial& trial) {
      return trial.section == section && trial.threads == threads &&
             (!level || trial.set.level == *level);
    });
  };
  EXPECT_EQ(first(Section::compute, 4), 0);
  EXPECT_LT(first(Section::compute, 4), first(Section::memory, 4, Level::dram));
  EXPECT_LT(first(Section::memory, 4, Level::dram), first(Section::memory, 4, Level::l1));
  EXPECT_LT(first(Section::memory, 4, Level::l1), first(Section::sweep, 4));
  EXPECT_LT(first(Section::sweep, 4), first(Section::compute, 1));
  EXPECT_LT(first(Section::compute, 1), first(Section::memory, 1));
  EXPECT_LT(first(Section::memory, 1), first(Section::launch, 4));
}

// A team of one thread has nobody to wait for.
TEST(Plan, LaunchingIsMeasuredWithSeveralThreads) {
  std::set<int> counts;
  for (const PlannedTrial& trial : plan(options({"launch"}), four_cores()))
    counts.insert(trial.threads);
  EXPECT_EQ(counts, (std::set<int>{2, 4}));
}

}  // namespace
}  // namespace ridgeline::cpu
