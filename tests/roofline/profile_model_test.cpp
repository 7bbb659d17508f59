// A profile as a model: its rates come back as ceilings, and missing ones are reported.
#include "roofline/model/profile_model.h"

#include <gtest/gtest.h>

#include "base/profile.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/model/priors.h"
#include "tests/base/error_line.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

Profile example_profile() {
  return load_profile(source_file("tests/data/profiles/example_cpu.json"));
}

double fastest(const ProfileMode& mode, Unit unit, DType dtype, int threads) {
  double rate = 0;
  for (const ComputeRow& row : mode.compute)
    if (row.unit == unit && row.dtype == dtype && row.threads == threads && row.flops_per_s)
      rate = std::max(rate, row.flops_per_s->value);
  return rate;
}

TEST(ProfileModel, RatesComeBackAsCeilings) {
  const Profile profile = example_profile();
  const ProfileMode& mode = profile.modes.front();
  const ProfiledMachine machine = profiled_machine(profile, mode);
  const Ceilings ceilings =
      model_ceilings(with_priors(machine.model), machine.point, Runtime::onnxruntime);
  const int threads = *machine.point.cpu_cores;
  bool found = false;
  for (const Peak& peak : ceilings.peaks)
    if (peak.unit == Unit::vector && peak.dtype == DType::fp32) {
      found = true;
      EXPECT_NEAR(peak.flops_per_s / fastest(mode, peak.unit, peak.dtype, threads), 1, 1e-9);
      EXPECT_EQ(peak.source, Source::measured);
    }
  EXPECT_TRUE(found);
  double memory = 0;
  for (const MemoryRow& row : mode.memory)
    if (row.level == Level::dram && row.threads == threads && row.bytes_per_s)
      memory = std::max(memory, row.bytes_per_s->value);
  ASSERT_EQ(ceilings.bandwidths.size(), 1u);
  EXPECT_DOUBLE_EQ(ceilings.bandwidths[0].bytes_per_s, memory);
  EXPECT_EQ(ceilings.bandwidths[0].source, Source::measured);
}

TEST(ProfileModel, OneThread) {
  const Profile profile = example_profile();
  const ProfiledMachine one = profiled_machine(profile, profile.modes.front(), 1);
  EXPECT_EQ(one.point.cpu_cores, 1);
  EXPECT_EQ(mean_of(one.model, "cpu0_cores"), 1);
}

TEST(ProfileModel, WithoutRatesItSaysSo) {
  Profile profile = example_profile();
  profile.modes.front().compute.clear();
  EXPECT_EQ(error_line([&] { profiled_machine(profile, profile.modes.front()); }),
            profile.machine.name +
                ": the profile has no compute rate of the CPU (measure again without --only)");
  profile = example_profile();
  for (ComputeRow& row : profile.modes.front().compute) row.clock_hz.reset();
  profile.modes.front().mode.cpu_hz.clear();
  EXPECT_EQ(error_line([&] { profiled_machine(profile, profile.modes.front()); }),
            profile.machine.name +
                ": the profile has no CPU clock with its rates (measure again without --only)");
}

// The clock is that of the vector unit in fp32, with the threads that are asked for; another row of
// these threads stands in for it, and the clock of the mode for all.
TEST(ProfileModel, TheClockIsThatOfTheLoad) {
  Profile profile;
  profile.machine.name = "made-up";
  ProfileMode mode;
  mode.mode.cpu_hz = {1e9};
  const auto add = [&](Unit unit, DType dtype, int threads, double hz, Status status) {
    ComputeRow row;
    row.unit = unit;
    row.dtype = row.accumulate = dtype;
    row.threads = threads;
    row.status = status;
    row.flops_per_s = exact(1e9, Source::measured);
    if (hz > 0) row.clock_hz = exact(hz, Source::measured);
    mode.compute.push_back(row);
  };
  add(Unit::scalar, DType::fp64, 4, 3.0e9, Status::ok);
  add(Unit::vector, DType::fp32, 4, 2.5e9, Status::ok);
  add(Unit::matrix, DType::bf16, 4, 2.0e9, Status::ok);
  add(Unit::vector, DType::fp64, 4, 0, Status::ok);
  add(Unit::vector, DType::fp32, 1, 3.5e9, Status::ok);
  add(Unit::vector, DType::fp32, 8, 9.0e9, Status::unsupported);
  const auto hz = [&](int threads) {
    const ProfiledMachine machine = profiled_machine(profile, mode, threads);
    EXPECT_EQ(machine.point.cpu_hz.front(), mean_of(machine.model, "cpu_measured_hz"));
    return machine.point.cpu_hz.front();
  };
  EXPECT_EQ(hz(0), 2.5e9);  // the most threads of a row that counts
  EXPECT_EQ(hz(4), 2.5e9);
  EXPECT_EQ(hz(1), 3.5e9);
  mode.compute.erase(mode.compute.begin() + 1);
  EXPECT_EQ(hz(4), 3.0e9);
  for (ComputeRow& row : mode.compute) row.clock_hz.reset();
  EXPECT_EQ(hz(4), 1e9);
}

}  // namespace
}  // namespace ridgeline::testing
