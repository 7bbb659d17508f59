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

}  // namespace
}  // namespace ridgeline::testing
