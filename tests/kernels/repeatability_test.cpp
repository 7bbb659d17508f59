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

}  // namespace
}  // namespace ridgeline
