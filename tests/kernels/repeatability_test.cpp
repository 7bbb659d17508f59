// Comparing two runs: rows that changed, rows that did not, and rows that cannot be compared.
#include "kernels/repeatability.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

MemoryRow row(Level level, double rate, double half_width) {
  MemoryRow result;
  result.level = level;
  result.bytes_per_s =
      Estimate{rate, rate * (1 - half_width), rate * (1 + half_width), Source::measured};
  return result;
}

TEST(Repeatability, ReportsWhatMovedByMoreThanTwoPercent) {
  ProfileMode before, after;
  before.memory = {row(Level::l1, 100, 0.001), row(Level::l2, 100, 0.03), row(Level::dram, 100, 0)};
  after.memory = {row(Level::l1, 95, 0.001), row(Level::l2, 103, 0.03), row(Level::dram, 101, 0)};
  const auto rows = differing_rows(before, after);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].row, "L1 read, 1 thread");
  EXPECT_NEAR(rows[0].relative, -0.05, 1e-12);
  EXPECT_NEAR(rows[1].relative, 0.03, 1e-12);
}

TEST(Repeatability, LeavesRowsOutThatOneRunLacks) {
  ProfileMode before, after;
  before.memory = {row(Level::l1, 100, 0)};
  after.memory = {row(Level::l1, 50, 0), row(Level::l2, 50, 0)};
  after.memory[0].status = Status::throttled;
  EXPECT_TRUE(differing_rows(before, after).empty());
}

TEST(Repeatability, OnlyOneMachineAndModeIsComparable) {
  Profile before, after;
  EXPECT_FALSE(comparable(before, after));
  before.modes.resize(1);
  after.modes.resize(1);
  EXPECT_TRUE(comparable(before, after));
  after.machine.cores = 4;
  EXPECT_FALSE(comparable(before, after));
  after.machine = before.machine;
  after.modes[0].mode.label = "30W";
  EXPECT_FALSE(comparable(before, after));
}

TEST(Repeatability, WarnsWithTheLargestDifference) {
  Profile before, after;
  before.modes.resize(1);
  after.modes.resize(1);
  before.modes[0].conditions.started = "yesterday";
  before.modes[0].memory = {row(Level::l1, 100, 0), row(Level::dram, 100, 0)};
  after.modes[0].memory = before.modes[0].memory;
  warn_of_differences(before, after);
  EXPECT_TRUE(after.modes[0].conditions.warnings.empty());
  after.modes[0].memory = {row(Level::l1, 105, 0), row(Level::dram, 90, 0)};
  warn_of_differences(before, after);
  ASSERT_EQ(after.modes[0].conditions.warnings.size(), 1u);
  EXPECT_EQ(after.modes[0].conditions.warnings[0].text,
            "2 rows differ by more than 2 % from the run of yesterday; most: DRAM read, 1 thread "
            "(-10.0 %)");
  after.modes[0].conditions.warnings.clear();
  after.machine.cores = 4;
  warn_of_differences(before, after);
  EXPECT_TRUE(after.modes[0].conditions.warnings.empty());
}

}  // namespace
}  // namespace ridgeline
