// Power of the intensity sweep, for a GPU with configured energies and a rail that is late and
// coarse: the fit recovers the energies within the time limit of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "roofline/ceilings/measured_energy.h"
#include "tests/kernels/cuda/measured.h"
#include "tests/kernels/cuda/test_rail.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using Lag = TestRailSettings::Lag;

class CudaPower : public ::testing::Test {
 protected:
  ProfileMode measure(const TestGpuSettings& settings, const TestRailSettings& rail_settings,
                      const cuda::MeasureOptions& options, bool clocks_held = false) {
    TestGpu gpu(settings);
    TestRail rail(gpu, rail_settings);
    PowerMeter meter(rail, {[&] { return gpu.now_s(); }, [&](double s) { gpu.wait(s); },
                            [&] {
                              on_and_on_ = !gpu.drawn().empty();
                              return false;
                            }});
    ProfileMode mode = measured(gpu, options, {.power = &meter, .clocks_held = clocks_held});
    mode.energy = fitted_energy(mode, rail.facts().name);
    taken_s_ = gpu.now_s();
    return mode;
  }
  double taken_s_ = 0;
  bool on_and_on_ = false;  // the kernel runs while its power is read
};

void expect_energies(const ProfileMode& mode, const TestGpuSettings& truth, double tolerance) {
  ASSERT_EQ(mode.energy.size(), 1u);
  const EnergyFitRow& fit = mode.energy.front();
  ASSERT_EQ(fit.status, Status::ok) << fit.note;
  EXPECT_EQ(fit.kernel, "sweep");
  EXPECT_NEAR(fit.joule_per_flop->value / truth.joule_per_flop, 1, tolerance);
  EXPECT_NEAR(fit.joule_per_byte->value / truth.joule_per_byte, 1, tolerance);
  EXPECT_NEAR(fit.constant_power_w->value / truth.constant_w, 1, tolerance);
  ASSERT_TRUE(mode.idle_power_w);
  EXPECT_NEAR(mode.idle_power_w->value, truth.idle_w, 0.25);
  EXPECT_LE(mode.idle_power_w->low, truth.idle_w);
  EXPECT_GE(mode.idle_power_w->high, truth.idle_w);
}

constexpr double five_percent = 0.05;

TEST_F(CudaPower, ALateAndCoarseRailTellsTheEnergies) {
  const TestGpuSettings truth = test_orin();
  for (const Lag lag : {Lag::first_order, Lag::delay}) {
    const ProfileMode mode = measure(truth, {.lag = lag}, {.only = {"sweep"}});
    expect_energies(mode, truth, five_percent);
    ASSERT_EQ(mode.sweep.size(), 10u);
    for (const SweepRow& row : mode.sweep) {
      ASSERT_TRUE(row.power_w) << row.kernel;
      const double drawn = truth.constant_w + truth.joule_per_byte * row.bytes_per_s->value +
                           (row.flops_per_s ? truth.joule_per_flop * row.flops_per_s->value : 0);
      EXPECT_NEAR(row.power_w->value, drawn, 0.4) << row.kernel;
    }
  }
}

// In a slow mode, the power of all the arithmetic is nine steps of the rail. A perfectly steady
// load then gives wider intervals; a ripple of one step, as real loads have, restores the accuracy,
// and so do pauses between the bursts where clocks are held.
TEST_F(CudaPower, StepsMatterInASlowMode) {
  TestGpuSettings truth = test_orin();
  truth.clock_hz = 0.41e9;
  truth.set_dram(80e9);
  truth.idle_w = 6;
  truth.constant_w = 7.5;
  truth.joule_per_flop = 2.1e-12;
  const ProfileMode steady = measure(truth, {}, {.only = {"sweep"}});
  const auto holds = [](const Estimate& estimate, double value) {
    return estimate.low <= value && value <= estimate.high;
  };
  ASSERT_EQ(steady.energy.size(), 1u);
  EXPECT_TRUE(holds(*steady.energy[0].joule_per_flop, truth.joule_per_flop));
  EXPECT_TRUE(holds(*steady.energy[0].joule_per_byte, truth.joule_per_byte));
  EXPECT_TRUE(holds(*steady.energy[0].constant_power_w, truth.constant_w));
  const ProfileMode paused = measure(truth, {.lag = Lag::first_order}, {.only = {"sweep"}}, true);
  ASSERT_EQ(paused.energy.size(), 1u);
  EXPECT_NEAR(paused.energy[0].joule_per_flop->value / truth.joule_per_flop, 1, 0.03);
  EXPECT_NEAR(paused.energy[0].joule_per_byte->value / truth.joule_per_byte, 1, 0.03);
  EXPECT_NEAR(paused.energy[0].constant_power_w->value / truth.constant_w, 1, 0.03);
  truth.ripple_w = 0.4;
  expect_energies(measure(truth, {.lag = Lag::delay}, {.only = {"sweep"}}), truth, five_percent);
}

// Memory so slow that it limits the whole sweep: the peak of arithmetic tells constant power from
// that of traffic.
TEST_F(CudaPower, APeakTellsConstantPowerWhereMemoryLimitsEveryPoint) {
  TestGpuSettings truth = test_orin();
  truth.set_dram(12e9);
  const TestRailSettings rail{.lag = Lag::first_order};
  const ProfileMode sweep = measure(truth, rail, {.only = {"sweep"}}, true);
  ASSERT_EQ(sweep.energy.size(), 1u);
  EXPECT_EQ(sweep.energy[0].status, Status::unsupported);
  EXPECT_THAT(sweep.energy[0].note, HasSubstr("cannot be told apart"));
  const ProfileMode both = measure(truth, rail, {.only = {"sweep", "fp32"}}, true);
  const auto peak = std::ranges::find_if(
      both.compute, [](const ComputeRow& row) { return row.power_w.has_value(); });
  ASSERT_NE(peak, both.compute.end());
  EXPECT_NEAR(peak->power_w->value,
              truth.constant_w + truth.joule_per_flop * peak->flops_per_s->value, 0.3);
  ASSERT_EQ(both.energy[0].status, Status::ok) << both.energy[0].note;
  EXPECT_NEAR(both.energy[0].joule_per_flop->value / truth.joule_per_flop, 1, 0.03);
  EXPECT_NEAR(both.energy[0].constant_power_w->value / truth.constant_w, 1, 0.03);
}

TEST_F(CudaPower, ACounterOfJoulesNeedsLessTime) {
  const TestGpuSettings truth = test_orin();
  const ProfileMode mode =
      measure(truth, {.step_w = 0, .counter = true}, {.quick = true, .only = {"sweep"}});
  expect_energies(mode, truth, five_percent);
}

TEST_F(CudaPower, AFullRunTakesLessThanFiveMinutes) {
  const TestGpuSettings truth = test_orin();
  const ProfileMode mode = measure(truth, {}, {});
  EXPECT_LT(taken_s_, 300);
  EXPECT_TRUE(mode.conditions.complete);
  expect_energies(mode, truth, five_percent);
}

TEST_F(CudaPower, AQuickRunTakesLessThanThreeQuartersOfAMinute) {
  const TestGpuSettings truth = test_orin();
  const ProfileMode mode = measure(truth, {}, {.quick = true});
  EXPECT_LT(taken_s_, 45);
  EXPECT_EQ(mode.sweep.size(), 4u);
  expect_energies(mode, truth, five_percent);
}

TEST_F(CudaPower, ARateThatDoesNotLastIsNotTheOneThatDrawsThePower) {
  TestGpuSettings truth = test_orin();
  truth.clock_at = [&](double) { return on_and_on_ ? 1.0e9 : 1.3e9; };
  const ProfileMode mode = measure(truth, {}, {.only = {"sweep"}});
  const SweepRow& row = mode.sweep.back();
  EXPECT_EQ(row.status, Status::throttled);
  EXPECT_THAT(row.note, HasSubstr("it fell to 77 % of their rate"));
  EXPECT_NEAR(row.flops_per_s->value, 256 * 16 * 1.0e9, 0.01 * 256 * 16 * 1.0e9);
  expect_energies(mode, truth, five_percent);
}

TEST_F(CudaPower, ASensorThatFailsLeavesTheRates) {
  const ProfileMode mode =
      measure(test_orin(), {.fails_after_s = 12}, {.quick = true, .only = {"sweep"}});
  EXPECT_TRUE(mode.conditions.complete);
  ASSERT_EQ(mode.conditions.warnings.size(), 1u);
  EXPECT_THAT(mode.conditions.warnings[0].text,
              HasSubstr("power was not measured to the end: rail VDD_TEST"));
  for (const SweepRow& row : mode.sweep) EXPECT_TRUE(row.bytes_per_s) << row.kernel;
  EXPECT_FALSE(mode.sweep.back().power_w);
}

TEST_F(CudaPower, TooLittleTimeIsSaidSo) {
  const ProfileMode mode = measure(test_orin(), {}, {.budget_s = 10, .only = {"sweep"}});
  EXPECT_FALSE(mode.idle_power_w);
  ASSERT_EQ(mode.conditions.warnings.size(), 1u);
  EXPECT_THAT(mode.conditions.warnings[0].text,
              HasSubstr("power was not measured: test rail is too slow"));
  EXPECT_EQ(mode.conditions.warnings[0].fix, "--budget 165s");
}

TEST_F(CudaPower, ALostGpuKeepsThePowerThatWasRead) {
  TestGpuSettings settings = test_orin();
  settings.lost_after_s = 60;
  settings.noise = 0.02;
  const ProfileMode mode = measure(settings, {}, {.budget_s = 90, .only = {"sweep"}});
  EXPECT_FALSE(mode.conditions.complete);
  EXPECT_TRUE(mode.sweep.front().power_w);
  EXPECT_FALSE(mode.sweep.back().power_w);
}

TEST(CudaLaunch, RowsCarryTheClockOfTheCoreThatLaunches) {
  std::vector<double> costs;
  for (const double clock_hz : {2.2e9, 1.1e9}) {
    TestGpuSettings settings = test_orin();
    settings.launch_s = 11e3 / clock_hz;
    TestGpu gpu(settings);
    const ProfileMode mode =
        measured(gpu, {.only = {"launch"}}, {.host_clock_hz = [&] { return clock_hz; }});
    for (const LaunchRow& row : mode.launch) {
      ASSERT_TRUE(row.clock_hz) << row.kind;
      EXPECT_DOUBLE_EQ(row.clock_hz->value, clock_hz);
      if (row.kind == "async_launch") costs.push_back(row.time_s->value);
    }
  }
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_NEAR(costs[1] / costs[0], 2, 0.02);
}

TEST(CudaClock, WhatTheDriverHoldsDownIsInTheNote) {
  const auto row = [](std::optional<double> cap_hz) {
    TestGpu gpu(test_orin());
    return measured(gpu, {.only = {"fma_fp32"}},
                    {.cap_hz = cap_hz, .throttle_reasons = [] { return 0x05u; }})
        .compute.at(0);
  };
  EXPECT_EQ(row(1.5e9).status, Status::throttled);
  EXPECT_EQ(row(1.5e9).note,
            "ran at 87 % of the mode's clock, which the driver held down (power cap)");
  EXPECT_EQ(row(1.3e9).status, Status::ok) << "it reached the mode's clock all the same";
  EXPECT_EQ(row(1.3e9).note, "the driver held the clock down (power cap)");
  EXPECT_EQ(row(std::nullopt).status, Status::throttled) << "nobody knows the mode's clock";
}

}  // namespace
}  // namespace ridgeline::testing
