// Working sets of several machines: each fits its level, DRAM's is four times the last cache.
#include "kernels/cpu/working_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ridgeline::cpu {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

std::vector<Cache> server() {
  return {{Level::l1, 48 * kib, 2, 1, 64},
          {Level::l2, 2 * mib, 2, 1, 64},
          {Level::l3, 260 * mib, 1, 2, 64}};
}
std::vector<Cache> orin() {
  return {{Level::l1, 64 * kib, 12, 1, 64},
          {Level::l2, 256 * kib, 12, 1, 64},
          {Level::l3, 2 * mib, 3, 4, 64}};
}

TEST(WorkingSet, LiesWithinItsLevelOnAServer) {
  const auto sets = working_sets(server(), 2, 2, 20 * gib);
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_EQ(sets[0].bytes_per_thread, 24 * kib);
  EXPECT_GT(sets[1].bytes_per_thread, 2 * 48 * kib);
  EXPECT_LT(sets[1].bytes_per_thread, 1 * mib);
  EXPECT_GT(sets[2].bytes_per_thread, 4 * mib);
  EXPECT_LT(sets[2].bytes_per_thread, 65 * mib);
  EXPECT_EQ(sets[3].level, Level::dram);
  EXPECT_GE(2 * sets[3].bytes_per_thread, 4 * 260 * mib);
  EXPECT_FALSE(sets[3].too_small);
}

// The geometric mean of twice the level below and half of a core's share of this one.
TEST(WorkingSet, IsTheGeometricMeanOfItsBounds) {
  const auto sets = working_sets(server(), 2, 2, 20 * gib);
  const double l1 = 48.0 * kib, l2 = 2.0 * mib;
  EXPECT_NEAR(double(sets[1].bytes_per_thread), std::sqrt(2 * l1 * 0.5 * l2), 1);
}

TEST(WorkingSet, ThreadsThatShareACacheFitIntoIt) {
  const auto sets = working_sets(orin(), 12, 12, 8 * gib);
  ASSERT_EQ(sets.size(), 4u);
  EXPECT_LE(4 * sets[2].bytes_per_thread, 2 * mib);
  EXPECT_GT(sets[2].bytes_per_thread, 256 * kib);
  EXPECT_NEAR(double(12 * sets[3].bytes_per_thread), double(gib), double(mib));
}

TEST(WorkingSet, ShortMemoryIsSaid) {
  const auto sets = working_sets(server(), 2, 2, 1 * gib);
  EXPECT_LE(2 * sets[3].bytes_per_thread, gib / 2);
  EXPECT_TRUE(sets[3].too_small);
}

TEST(WorkingSet, AMachineWithoutKnownCachesStillHasDram) {
  const auto sets = working_sets({}, 4, 4, 8 * gib);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].level, Level::dram);
  EXPECT_EQ(4 * sets[0].bytes_per_thread, gib);
}

TEST(LatencySteps, ClimbFromL1ToDram) {
  const auto full = latency_steps(server(), 2, 20 * gib, false);
  EXPECT_EQ(full.front(), 4 * kib);
  EXPECT_EQ(full.back(), 4 * 260 * mib);
  EXPECT_TRUE(std::ranges::is_sorted(full));
  const auto quick = latency_steps(server(), 2, 20 * gib, true);
  ASSERT_EQ(quick.size(), 4u);
  EXPECT_EQ(level_of(server(), quick[0]), Level::l1);
  EXPECT_EQ(level_of(server(), quick[1]), Level::l2);
  EXPECT_EQ(level_of(server(), quick[2]), Level::l3);
  EXPECT_EQ(level_of(server(), quick[3]), Level::dram);
  EXPECT_LE(latency_steps(server(), 2, 400 * mib, false).back(), 200 * mib);
}

}  // namespace
}  // namespace ridgeline::cpu
