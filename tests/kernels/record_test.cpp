// What a run's parts add up to: the worst part speaks for the run, and every fault is counted.
#include "kernels/record.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

TEST(Record, TheWorstPartSpeaksForTheRun) {
  MeasuringConditions conditions;
  Sampling quiet, busy;
  quiet.rejected_rounds = 1;
  quiet.load = {0.001, 0.02};
  busy.rejected_rounds = 3;
  busy.load = {0.004, 0.01};
  busy.disturbed = true;
  busy.complete = false;
  add_sampling(conditions, quiet);
  EXPECT_FALSE(conditions.disturbed);
  EXPECT_TRUE(conditions.complete);
  add_sampling(conditions, busy);
  add_sampling(conditions, quiet);
  EXPECT_TRUE(conditions.disturbed);
  EXPECT_FALSE(conditions.complete);
  EXPECT_EQ(conditions.rejected_rounds, 5);
  EXPECT_DOUBLE_EQ(conditions.steal_fraction, 0.004);
  EXPECT_DOUBLE_EQ(conditions.other_fraction, 0.02);
}

TEST(Record, FaultsAreCountedAndWarnedOf) {
  Verdict noisy, drifted, throttled, unsteady;
  noisy.noisy = true;
  drifted.drifted = true;
  throttled.status = Status::throttled;
  unsteady.unsteady = true;
  RowCounts counts;
  for (const Verdict& verdict : {noisy, noisy, drifted, throttled, unsteady, Verdict{}})
    counts.add(verdict);
  MeasuringConditions conditions;
  counts.warn(conditions);
  EXPECT_EQ(conditions.rows.judged, 6);
  EXPECT_EQ(conditions.rows.noisy, 2);
  EXPECT_EQ(conditions.rows.drifted, 1);
  EXPECT_EQ(conditions.rows.throttled, 1);
  EXPECT_EQ(conditions.rows.unsteady, 1);
  ASSERT_EQ(conditions.warnings.size(), 3u);
  EXPECT_EQ(conditions.warnings[0].text, "2 rows known to no better than 2 %");
  EXPECT_EQ(conditions.warnings[1].text, "1 row moved by more than 5 % during the run");
  EXPECT_EQ(conditions.warnings[2].text, "1 row ran at a falling clock");
}

}  // namespace
}  // namespace ridgeline
