// CUDA commands on a machine without a device: one line, and everything else works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "kernels/cuda/gpu.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CudaCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::why_no_gpu().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  }
};

TEST_F(CudaCommand, MeasureSaysWhyThereIsNoDevice) {
  const ProcessResult result = run_ridgeline({"measure", "--gpu"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no CUDA device: " + cuda::why_no_gpu()));
  EXPECT_EQ(result.out, "");
}

TEST_F(CudaCommand, ListsWhatItWouldMeasure) {
  const ProcessResult result = run_ridgeline({"measure", "--gpu", "--list", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(schema_violations(Json::parse(result.out), "measure_plan.schema.json"), IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("mma_fp16"));
  EXPECT_THAT(result.out, HasSubstr("no CUDA device"));
}

TEST_F(CudaCommand, OptionsOfTheCpuAreRefused) {
  const ProcessResult result = run_ridgeline({"measure", "--gpu", "--threads", "2"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--threads"));
  EXPECT_EQ(run_ridgeline({"measure", "--gpu", "--list", "--only", "fp23"}).exit_code, 2);
}

TEST_F(CudaCommand, KernelsAreListedWithTheReason) {
  const ProcessResult list = run_ridgeline({"kernel", "--json"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(schema_violations(Json::parse(list.out), "kernels.schema.json"), IsEmpty());
  EXPECT_THAT(list.out, HasSubstr("sparse_int8_8"));
  const ProcessResult result = run_ridgeline({"kernel", "mma_fp16_8", "--blocks", "20"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no CUDA device"));
  EXPECT_EQ(run_ridgeline({"kernel", "mma_fp16_8", "--blocks", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace ridgeline::testing
