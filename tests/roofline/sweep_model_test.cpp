// One model fitted over the modes of a made-up board whose truth is written here, apart from the
// model's formulas: it recovers the board, corrects a wrong catalog and predicts modes left out.
#include "roofline/model/sweep_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/parameters.h"
#include "base/random.h"
#include "devices/catalog/model.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/machine.h"
#include "roofline/model/priors.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// The truth: a board like an AGX Orin. Nothing of it is read from the catalog.
struct TrueBoard {
  double flop_per_sm_clock = 248, dram_share = 0.91, bytes_per_clock = 196;
  double launch_clocks = 9e3;
  double volt(double hz) const {  // a smooth curve, unlike the model's two lines
    const double x = hz / 1300.5e6;
    return 0.70 + 0.30 * x * x * x;
  }
  double bandwidth(double gpu_hz, double emc_hz) const {
    return std::min(dram_share * 64 * emc_hz, bytes_per_clock * gpu_hz);
  }
  double power(int units, double gpu_hz, double emc_hz, double flops, double bytes) const {
    const double v2 = volt(gpu_hz) * volt(gpu_hz);
    return 5.5 + 1.4 * emc_hz / 3.199e9 + 0.55e-9 * v2 * units * gpu_hz + 4.1e-12 * v2 * flops +
           62e-12 * bytes;
  }
};

Estimate near(double value) { return {value, 0.995 * value, 1.005 * value, Source::measured}; }

ProfileMode measured_mode_of(const TrueBoard& board, double gpu_hz, double emc_hz, double cpu_hz,
                             Random& random) {
  const auto noisy = [&](double value) { return value * (1 + 0.006 * (random.unit() - 0.5)); };
  ProfileMode mode;
  mode.mode.label = std::to_string(std::lround(gpu_hz * 1e-6));
  mode.mode.gpu_units = 16;
  mode.mode.gpu_hz = gpu_hz;
  mode.mode.memory_hz = emc_hz;
  mode.mode.cpu_hz = {cpu_hz};
  mode.mode.cpu_cores = 12;
  ComputeRow row;
  row.processor = Processor::gpu;
  row.kernel = "fma_fp32";
  row.flops_per_s = near(noisy(16 * gpu_hz * board.flop_per_sm_clock));
  row.clock_hz = near(gpu_hz);
  mode.compute.push_back(row);
  MemoryRow memory;
  memory.processor = Processor::gpu;
  memory.kernel = "read_dram";
  memory.bytes_per_s = near(noisy(board.bandwidth(gpu_hz, emc_hz)));
  mode.memory.push_back(memory);
  LaunchRow launch;
  launch.processor = Processor::gpu;
  launch.kind = "async_launch";
  launch.time_s = near(noisy(board.launch_clocks / cpu_hz));
  launch.clock_hz = near(cpu_hz);
  mode.launch.push_back(launch);
  for (const int fma : {0, 4, 16, 64, 256}) {
    SweepRow sweep;
    sweep.processor = Processor::gpu;
    sweep.kernel = "sweep_" + std::to_string(fma);
    sweep.fma_per_element = fma;
    sweep.flop_per_byte = fma / 2.0;
    const double bytes =
        std::min(board.bandwidth(gpu_hz, emc_hz),
                 fma > 0 ? 16 * gpu_hz * board.flop_per_sm_clock / (fma / 2.0) : 1e300);
    sweep.bytes_per_s = near(noisy(bytes));
    if (fma > 0) sweep.flops_per_s = near(bytes * fma / 2.0);
    sweep.power_w = near(noisy(board.power(16, gpu_hz, emc_hz, bytes * fma / 2.0, bytes)));
    mode.sweep.push_back(sweep);
  }
  return mode;
}

Profile swept(const TrueBoard& board) {
  Profile profile;
  profile.machine.name = "made-up";
  Random random{7};
  for (const double gpu_hz : {306e6, 510e6, 714e6, 918e6, 1122e6, 1300.5e6})
    for (const double emc_hz : {665.6e6, 2133e6, 3199e6})
      profile.modes.push_back(
          measured_mode_of(board, gpu_hz, emc_hz, gpu_hz > 1e9 ? 2.2e9 : 1.1e9, random));
  return profile;
}

MachineModel orin_prior() {
  return with_priors(catalog::machine_model(catalog::load("jetson-agx-orin-64gb")));
}

TEST(SweepModel, RecoversTheBoard) {
  const TrueBoard board;
  const MachineModel model = fit_modes(orin_prior(), swept(board));
  EXPECT_NEAR(
      mean_of(model, rate_parameter({"gpu", Unit::vector, DType::fp32, DType::fp32, false})),
      board.flop_per_sm_clock, 0.01 * board.flop_per_sm_clock);
  EXPECT_NEAR(mean_of(model, "gpu_dram_efficiency"), board.dram_share, 0.01);
  EXPECT_NEAR(mean_of(model, "gpu_dram_bytes_per_clock"), board.bytes_per_clock, 2);
  EXPECT_NEAR(mean_of(model, "gpu_launch_cpu_clocks"), board.launch_clocks,
              0.01 * board.launch_clocks);
}

TEST(SweepModel, ModesLeftOutArePredicted) {
  const auto errors = left_out_errors(orin_prior(), swept(TrueBoard{}));
  ASSERT_EQ(errors.size(), 4u);
  for (const LeftOutError& error : errors) {
    EXPECT_LT(error.mean, error.quantity == "power" ? 0.03 : 0.01) << error.quantity;
    EXPECT_LT(error.worst, error.quantity == "power" ? 0.10 : 0.02) << error.quantity;
    EXPECT_GE(error.predictions, 18u);
  }
}

TEST(SweepModel, AWrongCatalogIsCorrected) {
  const Profile profile = swept(TrueBoard{});
  const MachineModel right = fit_modes(orin_prior(), profile);
  for (const double factor : {0.7, 1.3}) {
    MachineModel wrong = orin_prior();
    for (const char* name :
         {"gpu_dram_efficiency", "gpu_dram_bytes_per_clock", "dram_joule_per_byte",
          "gpu_fp32_joule_per_flop", "gpu_busy_joule_per_sm_clock"}) {
      const auto at = find_parameter(wrong, name);
      ASSERT_TRUE(at) << name;
      set_parameter(wrong, {name, factor * wrong.parameters[*at].mean, Source::assumed},
                    std::max(0.3 * wrong.parameters[*at].mean, sigma_of(wrong, *at)));
    }
    const std::string rate = rate_parameter({"gpu", Unit::vector, DType::fp32, DType::fp32, false});
    set_parameter(wrong, {rate, factor * mean_of(wrong, rate), Source::assumed});
    const MachineModel corrected = fit_modes(wrong, profile);
    for (const char* name : {"gpu_dram_efficiency", "gpu_dram_bytes_per_clock"})
      EXPECT_NEAR(mean_of(corrected, name) / mean_of(right, name), 1, 0.01) << name;
    EXPECT_NEAR(mean_of(corrected, rate) / mean_of(right, rate), 1, 1e-6);
    for (const LeftOutError& error : left_out_errors(wrong, profile))
      EXPECT_LT(error.mean, error.quantity == "power" ? 0.04 : 0.01) << error.quantity;
  }
}

TEST(SweepModel, TooFewModesTellNothingAboutOthers) {
  Profile profile = swept(TrueBoard{});
  profile.modes.resize(2);
  EXPECT_TRUE(left_out_errors(orin_prior(), profile).empty());
  EXPECT_TRUE(has_gpu_rates(profile));
  for (ProfileMode& mode : profile.modes) mode.compute.clear();
  EXPECT_FALSE(has_gpu_rates(profile));
}

// The mean of the errors lies between nothing and the worst of them.
TEST(SweepModel, TheWorstErrorIsAboveTheMean) {
  const auto errors = left_out_errors(orin_prior(), swept(TrueBoard{}));
  ASSERT_FALSE(errors.empty());
  for (const LeftOutError& error : errors) {
    EXPECT_GT(error.predictions, 1) << error.quantity;
    EXPECT_GT(error.mean, 0) << error.quantity;
    EXPECT_GT(error.worst, error.mean) << error.quantity;
    EXPECT_LE(error.worst, error.mean * static_cast<double>(error.predictions)) << error.quantity;
  }
}

// A board whose GPU was measured is the catalog's, corrected by the modes that nothing disturbed,
// and can be asked in any of its modes.
TEST(MachineSources, AMeasuredBoardIsTheCatalogsCorrected) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("board.json");
  const TrueBoard board;
  Profile profile = swept(board);
  profile.machine.device = "jetson-agx-orin-64gb";
  for (ProfileMode& mode : profile.modes) {
    mode.conditions.complete = true;
    mode.conditions.started = "2026-01-02T03:04:05Z";
  }
  const auto source = [&] {
    save_profile(profile, path);
    return machine_source({.on = path, .mode = "30W", .jetpack = "", .threads = {}});
  };
  const auto rate = [](const MachineSource& from) {
    return mean_of(from.model,
                   rate_parameter({"gpu", Unit::vector, DType::fp32, DType::fp32, false}));
  };
  const MachineSource all = source();
  EXPECT_EQ(all.name, "NVIDIA Jetson AGX Orin 64GB");
  ASSERT_TRUE(all.known && all.mode);
  EXPECT_EQ(all.point.label, "30W");
  EXPECT_EQ(all.point.gpu_hz, 612e6);
  EXPECT_NEAR(rate(all), board.flop_per_sm_clock, 0.01 * board.flop_per_sm_clock);
  EXPECT_THAT(all.notes, Contains(HasSubstr("one model of 18 measured modes")));
  EXPECT_THAT(all.notes, Not(Contains(HasSubstr("is not used"))));
  // A mode that was cut short and reads a tenth of the truth is left out, and named.
  profile.modes[0].conditions.complete = false;
  profile.modes[0].compute[0].flops_per_s = near(0.1 * 16 * 306e6 * board.flop_per_sm_clock);
  const MachineSource part = source();
  EXPECT_NEAR(rate(part), board.flop_per_sm_clock, 0.01 * board.flop_per_sm_clock);
  EXPECT_THAT(part.notes, Contains(HasSubstr("306 is not used: its measurement was cut short")));
  EXPECT_THAT(part.notes, Contains(HasSubstr("one model of 17 measured modes")));
  // If all were, there is nothing better.
  for (ProfileMode& mode : profile.modes) mode.conditions.complete = false;
  const MachineSource none = source();
  EXPECT_LT(rate(none), rate(part));
  EXPECT_THAT(none.notes, Contains(HasSubstr("every mode was disturbed or cut short")));
  EXPECT_THAT(none.notes, Not(Contains(HasSubstr("is not used"))));
}

// The board's own curve of voltages, which no two lines follow, at the clocks whose power was read.
TEST(SweepModel, FindsTheVoltages) {
  const TrueBoard board;
  Profile profile = swept(board);
  const auto power_of = [&] {
    return coefficients(fit_modes(orin_prior(), profile), Runtime::ideal).power;
  };
  const Power power = power_of();
  EXPECT_EQ(power.voltage_by_clock.size(), 6u);
  for (const double hz : {306e6, 510e6, 714e6, 918e6, 1122e6, 1300.5e6})
    EXPECT_NEAR(relative_voltage(power, hz) / board.volt(hz), 1, 0.03) << hz;
  // Two clocks with power are too few for a curve.
  for (ProfileMode& mode : profile.modes)
    if (*mode.mode.gpu_hz < 1e9) mode.sweep.clear();
  EXPECT_TRUE(power_of().voltage_by_clock.empty());
}

}  // namespace
}  // namespace ridgeline::testing
