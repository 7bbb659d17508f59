// The verdict on a whole run, on made-up conditions and rows: each reason, and what still counts as
// quiet.
#include "kernels/run_verdict.h"

#include <gtest/gtest.h>

#include "tests/roofline/made_up_mode.h"

namespace ridgeline::testing {
namespace {

// A two-core virtual machine on a shared host: most rounds above the sampler's limits, a few noisy
// and drifting memory rows, sweep points slightly above their roof.
ProfileMode shared_machine() {
  ProfileMode mode = simple_mode();
  mode.sweep = {sweep_row(1, 1, 10.4e9), sweep_row(64, 32, 103e9)};
  mode.conditions.disturbed = true;
  mode.conditions.other_fraction = 0.03;
  mode.conditions.steal_fraction = 0.02;
  mode.conditions.rows = {90, 40, 12, 2, 14, 0};
  return mode;
}

TEST(RunVerdict, AnOrdinarySharedMachineIsQuiet) {
  const RunVerdict verdict = judge_run(shared_machine());
  EXPECT_EQ(verdict.state, RunState::quiet);
  EXPECT_EQ(verdict.reason, "other processes took 3.0 % of the CPU, the hypervisor 2.0 %");
  EXPECT_EQ(verdict.fix, "");
  EXPECT_EQ(judge_run({}).state, RunState::quiet);
}

TEST(RunVerdict, ForeignLoadInMostRoundsDisturbs) {
  ProfileMode mode = shared_machine();
  mode.conditions.other_fraction = 0.38;
  EXPECT_EQ(judge_run(mode),
            (RunVerdict{RunState::disturbed, "other processes took 38 % of the CPU",
                        "close them and measure again"}));
  // Not disturbed: only quiet rounds count, whatever the load in rejected ones.
  mode.conditions.disturbed = false;
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
  mode = shared_machine();
  mode.conditions.steal_fraction = 0.2;
  EXPECT_EQ(judge_run(mode).reason, "the hypervisor took 20 % of the CPU");
}

TEST(RunVerdict, AGpuDoesNotMindABusyCpu) {
  ProfileMode mode = shared_machine();
  mode.conditions.other_fraction = 0.38;
  for (ComputeRow& row : mode.compute) row.processor = Processor::gpu;
  for (MemoryRow& row : mode.memory) row.processor = Processor::gpu;
  for (SweepRow& row : mode.sweep) row.processor = Processor::gpu;
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
}

TEST(RunVerdict, ManyUnsteadyRowsDisturb) {
  ProfileMode mode = shared_machine();
  mode.conditions.rows = {90, 60, 25, 3, 31, 0};
  EXPECT_EQ(judge_run(mode),
            (RunVerdict{RunState::disturbed,
                        "31 of 90 rows are unsteady (25 drifted, 3 ran at a falling clock, 60 are "
                        "noisy)",
                        "let the machine settle and measure again"}));
  mode.conditions.rows = {90, 10, 25, 40, 40, 0};
  EXPECT_EQ(judge_run(mode).fix, "check cooling and power limits and measure again");
  // Noise alone calls for more time, not a quieter machine; and a few rows are too few for a share.
  mode.conditions.rows = {90, 90, 0, 0, 30, 0};
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
  mode.conditions.rows = {5, 5, 5, 0, 5, 0};
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
}

TEST(RunVerdict, SweepPointsFarAboveTheirRoofDisturb) {
  ProfileMode mode = shared_machine();
  mode.sweep = {sweep_row(1, 1, 39.6e9), sweep_row(2, 2, 10e9), sweep_row(64, 32, 120e9)};
  EXPECT_EQ(judge_run(mode).reason, "2 sweep points stand above their roof, at up to 396 % of it");
  mode.sweep[2].flops_per_s->low = 100e9;  // its interval reaches down to the roof
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
}

TEST(RunVerdict, PointsAboveTheRoofAreMarked) {
  ProfileMode mode = shared_machine();
  mode.sweep = {sweep_row(0, 0, 1), sweep_row(1, 1, 39.6e9), sweep_row(2, 2, 19e9)};
  mark_sweep_above_roof(mode);
  EXPECT_EQ(mode.sweep[0].status, Status::ok);
  EXPECT_EQ(mode.sweep[1].status, Status::impossible);
  EXPECT_EQ(mode.sweep[1].note, "396 % of its roof: the machine was disturbed");
  EXPECT_EQ(mode.sweep[2].status, Status::ok);
}

}  // namespace
}  // namespace ridgeline::testing
