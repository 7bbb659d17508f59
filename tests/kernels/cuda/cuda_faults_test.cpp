// GPU faults: each is reported in one line, and earlier measurements are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "kernels/cuda/gpu_here.h"
#include "tests/kernels/cuda/measured.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A run that ended early gives a valid profile with fewer rows.
TEST(CudaFaults, ALostDeviceLeavesAValidProfile) {
  TestGpuSettings settings = test_orin();
  settings.facts.integrated = false;
  settings.lost_after_s = 12;
  settings.noise = 0.02;  // so that the run does not end earlier
  TestGpu gpu(settings);
  Profile profile;
  profile.machine.gpus = {{"Test GPU", "sm_87", 16, 1 << 20, ""}};
  profile.modes = {measured(gpu, {.budget_s = 15})};
  EXPECT_FALSE(profile.modes[0].conditions.complete);
  EXPECT_TRUE(warns_of(profile.modes[0], "the GPU was lost"));
  EXPECT_TRUE(std::ranges::any_of(profile.modes[0].memory, [](const MemoryRow& row) {
    return row.status == Status::ok && row.bytes_per_s;
  }));
  const Json json = to_json(profile);
  EXPECT_THAT(schema_violations(json, "profile.schema.json"), IsEmpty());
  EXPECT_EQ(profile_from_json(JsonCursor(json, "profile")), profile);
}

// Two passes over the whole set would take three seconds; with a display, the driver's watchdog
// ends such kernels.
TEST(CudaFaults, SetsAreCutWhereLongKernelsAreEnded) {
  TestGpuSettings settings = test_orin();
  settings.set_dram(0.5e9);
  settings.facts.watchdog = true;
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.budget_s = 900, .only = {"read_dram", "copy_dram"}});
  EXPECT_TRUE(mode.conditions.complete);
  EXPECT_TRUE(warns_of(mode, "the driver ends kernels after two seconds"));
  for (const MemoryRow& row : mode.memory) {
    ASSERT_TRUE(row.bytes_per_s) << row.note;
    EXPECT_NEAR(row.bytes_per_s->value / 0.5e9, 1, 0.04) << row.kernel;
    EXPECT_LT(row.working_set_bytes, std::uint64_t{200} << 20);
    EXPECT_THAT(row.note, HasSubstr("up to 3 % may come from L2"));
  }
}

TEST(CudaFaults, AKernelThatTimesOutKeepsTheRowsBeforeIt) {
  TestGpuSettings settings = test_orin();
  settings.facts.watchdog = true;
  settings.scale_arithmetic(1e-11, "int32");  // two trips take minutes
  TestGpu gpu(settings);
  const ProfileMode mode = measured(gpu, {.budget_s = 5, .only = {"fma_fp32", "mad_int32"}});
  EXPECT_FALSE(mode.conditions.complete);
  EXPECT_TRUE(warns_of(mode, "timed out"));
}

std::vector<Warning> sharing(const std::string& name,
                             const std::map<std::string, std::string>& variables,
                             const SystemRoot& root) {
  cuda::DeviceFacts facts;
  facts.name = name;
  facts.multiprocessors = 14;
  return cuda::sharing_warnings(
      facts,
      [&](const char* variable) {
        const auto found = variables.find(variable);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      root);
}

TEST(CudaSharing, APartOfAGpuIsSaidToBeOne) {
  const TemporaryDirectory folder;
  const SystemRoot root{folder.path() + "/"};
  EXPECT_THAT(sharing("NVIDIA A100-SXM4-40GB", {}, root), IsEmpty());
  const auto mig = sharing("NVIDIA A100-SXM4-40GB MIG 1g.5gb", {}, root);
  ASSERT_EQ(mig.size(), 1u);
  EXPECT_THAT(mig[0].text, HasSubstr("MIG instance with 14 multiprocessors"));
  EXPECT_EQ(sharing("A100", {{"CUDA_VISIBLE_DEVICES", "MIG-41b8"}}, root).size(), 1u);
  EXPECT_THAT(sharing("A100", {{"CUDA_VISIBLE_DEVICES", "0"}}, root), IsEmpty());
}

TEST(CudaSharing, AnMpsServerIsNoticed) {
  const TemporaryDirectory folder;
  const SystemRoot root{folder.path() + "/"};
  const auto limited = sharing("A100", {{"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "25"}}, root);
  ASSERT_EQ(limited.size(), 1u);
  EXPECT_THAT(limited[0].text, HasSubstr("25 % of the GPU's threads"));
  folder.write("tmp/nvidia-mps/control", "");
  ASSERT_EQ(sharing("A100", {}, root).size(), 1u);
  EXPECT_THAT(sharing("A100", {}, root)[0].text, HasSubstr("an MPS server runs"));
  EXPECT_THAT(sharing("A100", {{"CUDA_MPS_PIPE_DIRECTORY", "/elsewhere"}}, root), IsEmpty());
  folder.write("elsewhere/control", "");
  EXPECT_EQ(sharing("A100", {{"CUDA_MPS_PIPE_DIRECTORY", "/elsewhere"}}, root).size(), 1u);
}

}  // namespace
}  // namespace ridgeline::testing
