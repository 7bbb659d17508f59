// Peaks that are held for seconds, and what is seen around a run: heat, other programs,
// over-current.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "kernels/cuda/surroundings.h"
#include "kernels/run_verdict.h"
#include "tests/kernels/cuda/measured.h"

namespace ridgeline::testing {
namespace {

int held_rows(const ProfileMode& mode) {
  int held = 0;
  for (const ComputeRow& row : mode.compute) held += row.sustained.has_value();
  for (const MemoryRow& row : mode.memory) held += row.sustained.has_value();
  return held;
}

TEST(CudaSustain, FullRunsHoldTheFastestOfEachArithmeticAndDram) {
  TestGpu gpu(agx_orin());
  const ProfileMode mode = measured(gpu);
  std::set<std::pair<Unit, DType>> arithmetic;
  for (const ComputeRow& row : mode.compute) {
    if (!row.sustained) continue;
    EXPECT_FALSE(row.sparse) << row.kernel;
    EXPECT_TRUE(arithmetic.insert({row.unit, row.dtype}).second) << row.kernel;
    EXPECT_NEAR(row.sustained->rate->value / row.flops_per_s->value, 1, 0.01) << row.kernel;
    EXPECT_GE(row.sustained->seconds, 3) << row.kernel;
    EXPECT_LE(row.sustained->seconds, 5.5) << row.kernel;
    EXPECT_NEAR(row.sustained->last_clock_hz.value() / 1300.5e6, 1, 0.01);
  }
  EXPECT_EQ(arithmetic.size(), 12u);  // six on CUDA cores, six on tensor cores
  std::set<Direction> dram;
  for (const MemoryRow& row : mode.memory)
    if (row.sustained) {
      EXPECT_EQ(row.level, Level::dram);
      EXPECT_EQ(row.allocation, "device");
      EXPECT_NEAR(row.sustained->rate->value / row.bytes_per_s->value, 1, 0.01) << row.kernel;
      dram.insert(row.direction);
    }
  EXPECT_EQ(dram, (std::set{Direction::read, Direction::write}));  // write is the fastest there
}

TEST(CudaSustain, QuickRunsHoldNothingUnlessAsked) {
  TestGpu quick(agx_orin());
  EXPECT_EQ(held_rows(measured(quick, {.quick = true})), 0);
  TestGpu never(agx_orin());
  EXPECT_EQ(held_rows(measured(never, {.only = {"fp32"}, .sustain_s = 0.0})), 0);
  TestGpu asked(agx_orin());
  const ProfileMode mode = measured(asked, {.quick = true, .only = {"fma_fp32"}, .sustain_s = 2.0});
  EXPECT_EQ(held_rows(mode), 1);
  EXPECT_NEAR(row_of(mode, "fma_fp32").sustained->seconds, 2, 0.1);
  // A budget counts for all parts of a run, and a tenth of a second is no holding.
  TestGpu brief(agx_orin());
  const ProfileMode short_run = measured(brief, {.budget_s = 10});
  EXPECT_EQ(held_rows(short_run), 0);
  EXPECT_LT(brief.now_s(), 11);
}

// The burst is over before the chip is warm; the clock falls to four fifths while it is held.
TEST(CudaSustain, HeatShowsInTheHeldRate) {
  Board board = agx_orin();
  board.heat = {.ambient_c = 60, .kelvin_per_w = 2.5, .time_constant_s = 40};
  TestGpu gpu(board);
  const ProfileMode mode =
      measured(gpu, {.quick = true, .only = {"fma_fp32"}, .sustain_s = 60.0},
               {.cap_hz = board.clock_hz, .look = [&] { return gpu.state(); }});
  const ComputeRow& row = row_of(mode, "fma_fp32");
  EXPECT_EQ(row.status, Status::ok) << row.note;
  EXPECT_NEAR(row.flops_per_s->value / board.flops_per_s("fma_fp32"), 1, 0.01);
  ASSERT_TRUE(row.sustained);
  EXPECT_NEAR(row.sustained->rate->value / board.flops_per_s("fma_fp32"), 0.8, 0.01);
  EXPECT_NEAR(row.sustained->first_clock_hz.value() / board.clock_hz, 1, 0.01);
  EXPECT_NEAR(row.sustained->last_clock_hz.value() / board.clock_hz, 0.8, 0.01);
  EXPECT_LT(row.sustained->first_temperature_c.value(), 80);
  EXPECT_GT(row.sustained->last_temperature_c.value(), 82);
  EXPECT_GT(mode.conditions.gpu->highest_temperature_c.value(), 82);
}

TEST(CudaSurroundings, OtherProgramsHeatAndOverCurrentAreNamed) {
  TestGpu gpu(agx_orin());
  double events = 7;
  const ProfileMode mode = measured(gpu, {.quick = true, .only = {"fma_fp32"}}, {.look = [&] {
                                      GpuState state;
                                      state.load = gpu.now_s() < 1 ? 0.35 : 1;
                                      state.temperature_c = 71;
                                      state.processes = 3;
                                      state.over_currents = events++;
                                      state.held_by = 0x04;
                                      return state;
                                    }});
  EXPECT_TRUE(warns_of(mode, "other programs kept the GPU busy for 35 % of the time"));
  EXPECT_TRUE(warns_of(mode, "2 of them use CUDA"));
  EXPECT_TRUE(warns_of(mode, "the GPU was at 71 °C before the run"));
  EXPECT_TRUE(warns_of(mode, "over-current events"));
  ASSERT_TRUE(mode.conditions.gpu);
  EXPECT_EQ(mode.conditions.gpu->load_before, 0.35);
  EXPECT_EQ(mode.conditions.gpu->other_processes, 2);
  EXPECT_GT(mode.conditions.gpu->over_current_events, 3u);
  EXPECT_EQ(mode.conditions.gpu->held_by, "power cap");
  const RunVerdict verdict = judge_run(mode);
  EXPECT_EQ(verdict.state, RunState::disturbed);
  EXPECT_THAT(verdict.reason, ::testing::HasSubstr("other programs kept the GPU busy for 35 %"));
}

TEST(CudaSurroundings, AQuietGpuHasNoWarningsAndWithoutInstrumentsNothingIsClaimed) {
  TestGpu gpu(agx_orin());
  const ProfileMode mode =
      measured(gpu, {.quick = true, .only = {"fma_fp32"}}, {.look = [&] { return gpu.state(); }});
  EXPECT_THAT(mode.conditions.warnings, ::testing::IsEmpty());
  EXPECT_EQ(mode.conditions.gpu->load_before, 0);
  EXPECT_EQ(judge_run(mode).state, RunState::quiet);
  TestGpu blind(agx_orin());
  EXPECT_FALSE(measured(blind, {.quick = true, .only = {"fma_fp32"}}).conditions.gpu);
}

// Readings without a temperature do not count, and a cooler one is not the highest.
TEST(CudaSurroundings, TheHighestTemperatureIsKept) {
  const std::vector<std::optional<double>> readings = {40, 71, std::nullopt, 55};
  std::size_t next = 0;
  cuda::Surroundings surroundings([&] {
    GpuState state;
    state.temperature_c = readings[next++];
    return state;
  });
  while (next < readings.size()) surroundings.look();
  MeasuringConditions conditions;
  surroundings.record(conditions);
  ASSERT_TRUE(conditions.gpu);
  EXPECT_EQ(conditions.gpu->first_temperature_c, 40);
  EXPECT_EQ(conditions.gpu->highest_temperature_c, 71);
}

}  // namespace
}  // namespace ridgeline::testing
