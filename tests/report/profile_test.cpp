// The table of a profile describes each row: sparsity, memory used, direction of copies.
#include "report/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/roofline/made_up_mode.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Profile gpu_profile() {
  Profile profile;
  profile.machine = made_up_machine();
  profile.machine.gpus = {{"Made-up GPU", "sm_90", 4, std::uint64_t{8} << 30, ""}};
  ProfileMode mode = made_up_mode();
  mode.compute = {compute_row(DType::fp16, Unit::matrix, "sm_90", 10e12),
                  compute_row(DType::fp16, Unit::matrix, "sm_90", 20e12)};
  mode.compute[1].sparse = true;
  mode.compute[1].kernel = "sparse_fp16_8";
  ComputeRow beyond;
  beyond.kernel = "wgmma_fp16";
  beyond.status = Status::unsupported;
  beyond.note = "the full rate needs wgmma";
  mode.compute.push_back(beyond);
  mode.memory = {memory_row(Level::dram, Direction::read, 100e9),
                 memory_row(Level::dram, Direction::read, 90e9)};
  mode.memory[0].allocation = "device";
  mode.memory[1].allocation = "pinned";
  TransferRow copy;
  copy.kind = "both";
  copy.host_memory = "pageable";
  copy.bytes = 64 << 20;
  copy.bytes_per_s = around(12e9);
  mode.transfer = {copy};
  profile.modes = {mode};
  return profile;
}

TEST(ProfileTable, SaysWhatEachRowOfAGpuIs) {
  const std::string text = profile_text(gpu_profile(), 100);
  for (const char* part :
       {"Made-up GPU (sm_90), 4 multiprocessors, 8 GiB", "sparse_fp16_8, 2:4 sparse",
        "unsupported: wgmma_fp16 (the full rate needs wgmma)", "DRAM read pinned",
        "both ways at once, pageable memory  12.00 GB/s"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("DRAM read device")));
}

TEST(ProfileTable, HasTheSameInColumns) {
  const std::string csv = profile_csv(gpu_profile());
  for (const char* part : {",fp16 sparse,", ",DRAM read pinned,", ",transfer,gpu,both,pageable,"})
    EXPECT_THAT(csv, HasSubstr(part));
}

TEST(ProfileTable, TheVerdictOnTheRunIsTheFirstLine) {
  Profile profile = gpu_profile();
  MeasuringConditions& conditions = profile.modes[0].conditions;
  conditions.warnings = {{"the fan is loud", ""}};
  EXPECT_THAT(profile_text(profile, 100), ::testing::StartsWith("Made-up CPU"));
  conditions.verdict = RunVerdict{RunState::disturbed, "other processes took 38 % of the CPU",
                                  "close them and measure again"};
  const std::string text = profile_text(profile, 100);
  EXPECT_THAT(text, ::testing::StartsWith("disturbed: other processes took 38 % of the CPU; close "
                                          "them and measure again\n"));
  EXPECT_LT(text.find("warning: the fan is loud"), text.find("sparse_fp16_8"));
  conditions.verdict = RunVerdict{RunState::quiet, "nothing else ran", ""};
  EXPECT_THAT(profile_text(profile, 100), ::testing::StartsWith("quiet: nothing else ran\n"));
}

TEST(ProfileTable, ConditionsOfTheSystemAreSaid) {
  Profile profile = gpu_profile();
  ProfileMode& mode = profile.modes[0];
  SystemConditions seen;
  seen.knobs = {{"gpu", 612e6, 510e6, 612e6, "nvhost_podgov", true},
                {"cpu", std::nullopt, 1.2e9, 1.2e9, "schedutil", false}};
  seen.fan_lowest = 0.2;
  seen.fan_highest = 0.5;
  seen.coolest_c = 38;
  seen.hottest_c = 86;
  seen.trip_c = 84;
  seen.throttling = {{"oc3", 7}, {"trip_point", 0}};
  mode.conditions.system = seen;
  mode.idle_power_w = Estimate{6, 5.9, 6.1, Source::measured};
  mode.idle = {{IdleState::governor, {4.5, 4.4, 4.6, Source::measured}},
               {IdleState::suspended, {3.5, 3.4, 3.6, Source::measured}}};
  const std::string text = profile_text(profile, 200);
  EXPECT_THAT(text, HasSubstr("gpu 612 MHz asked, 510 MHz … 612 MHz read back (held); cpu 1.20 GHz "
                              "(schedutil); fan 20 % … 50 %; 38 °C … 86 °C, trip point 84 °C; "
                              "throttling: oc3 7 times"));
  EXPECT_THAT(text, HasSubstr("at rest, governors at work (measured)"));
  EXPECT_THAT(text, HasSubstr("at rest, GPU suspended (measured)"));
  const std::string csv = profile_csv(profile);
  EXPECT_THAT(csv, HasSubstr("\"at rest, suspended\",at rest,1,ok,idle_power_w,3.5"));
  mode.conditions.system->throttling = {{"oc3", 0}};
  EXPECT_THAT(profile_text(profile, 200), HasSubstr("throttling: none seen"));
}

}  // namespace
}  // namespace ridgeline::testing
