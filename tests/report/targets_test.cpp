// Targets against a GPU of known speed: fast enough passes, too slow is named.
#include "report/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/cuda/measured.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TargetCheck checked(const TestGpuSettings& settings) {
  TestGpu gpu(settings);
  const cuda::MeasureOptions options{
      .quick = true,
      .only = {"fma_fp32", "fma_fp64", "mma_fp16", "mma_int8", "dp4a_int8", "dram", "shared"}};
  return check_targets(measured(gpu, options));
}

// 98 % of the arithmetic, 94 % of the bus and 92 % of the shared memory limit.
TestGpuSettings fast_gpu() {
  TestGpuSettings settings = test_orin();
  settings.facts.memory_bytes_per_s = 204.8e9;
  settings.set_dram(0.94 * 204.8e9);
  settings.near_bytes_per_cycle = 0.92 * 128;
  settings.scale_arithmetic(0.98);
  return settings;
}

const CheckedTarget& target_of(const TargetCheck& check, const std::string& what) {
  for (const CheckedTarget& each : check.targets)
    if (each.what.starts_with(what)) return each;
  throw std::runtime_error("no target " + what);
}

TEST(TargetCheck, AFastGpuMeetsThem) {
  const TargetCheck check = checked(fast_gpu());
  EXPECT_TRUE(check.met()) << target_text(check, 100);
  EXPECT_NEAR(target_of(check, "GPU vector fp32").share, 0.98, 0.005);
  EXPECT_NEAR(target_of(check, "GPU matrix fp16").share, 0.98, 0.005);
  EXPECT_NEAR(target_of(check, "GPU shared read").share, 0.92, 0.005);
  EXPECT_NEAR(target_of(check, "GPU vector fp64").share, 0.98, 0.005);
  EXPECT_THAT(check.without_theory, Contains(HasSubstr("dp4a")));
  EXPECT_THAT(schema_violations(to_json(check), "targets.schema.json"), IsEmpty());
  EXPECT_THAT(target_text(check, 100), HasSubstr("pass"));
}

TEST(TargetCheck, WhatIsTooSlowIsNamed) {
  TestGpuSettings settings = fast_gpu();
  settings.set_dram(0.90 * 204.8e9);
  settings.scale_arithmetic(0.95, "int8");
  const TargetCheck check = checked(settings);
  EXPECT_FALSE(check.met());
  for (const CheckedTarget& each : check.targets) {
    const bool slow = each.what.find("DRAM") != std::string::npos || each.what == "GPU matrix int8";
    EXPECT_EQ(each.met(), !slow) << each.what << " " << each.share;
  }
  EXPECT_THAT(target_text(check, 100), HasSubstr("FAIL"));
}

// Twice the rate that the hardware allows, whether the verdict saw it or not.
TEST(TargetCheck, AnImpossibleRowIsNoPass) {
  TestGpuSettings settings = fast_gpu();
  settings.scale_arithmetic(2 / 0.98, "fp32");
  settings.issue_per_cycle = 16;
  settings.set_dram(1.03 * 204.8e9);
  const TargetCheck check = checked(settings);
  EXPECT_FALSE(check.met());
  for (const std::string what : {"GPU vector fp32", "GPU DRAM"}) {
    const CheckedTarget& target = target_of(check, what);
    EXPECT_GT(target.share, 1.02) << what;
    EXPECT_TRUE(target.impossible) << what;
    EXPECT_FALSE(target.met()) << what;
  }
  EXPECT_TRUE(target_of(check, "GPU matrix fp16").met());
  EXPECT_THAT(target_text(check, 100), HasSubstr("IMPOSSIBLE"));
  EXPECT_THAT(schema_violations(to_json(check), "targets.schema.json"), IsEmpty());
}

TEST(TargetCheck, WithoutAMemoryClockDramHasNoTheory) {
  TestGpuSettings settings = fast_gpu();
  settings.facts.memory_bytes_per_s.reset();
  const TargetCheck check = checked(settings);
  EXPECT_TRUE(check.met());
  EXPECT_THAT(check.without_theory, Contains(HasSubstr("_dram")));
}

TEST(TargetCheck, OfACpuOnTheCommandLine) {
  const TemporaryDirectory store;
  const ProcessResult result =
      run_process({"env", "XDG_DATA_HOME=" + store.path(), built_program(), "measure", "--only",
                   "launch", "--budget", "1s", "--check-targets"});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.out, HasSubstr("targets: no measured row has a theoretical limit"));
  if (!cuda::why_no_gpu().empty()) {
    EXPECT_THAT(result.err, HasSubstr("the GPU's targets are not checked: no CUDA device"));
    const ProcessResult gpu = run_ridgeline({"measure", "--gpu", "--check-targets"});
    EXPECT_EQ(gpu.exit_code, 1);
    EXPECT_THAT(gpu.err, HasSubstr("no CUDA device"));
  }
}

}  // namespace
}  // namespace ridgeline::testing
