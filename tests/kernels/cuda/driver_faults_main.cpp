// The program with broken drivers, through the real runtime library: one line gives the reason, and
// everything that needs no GPU works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ProcessResult run_with_driver(const std::vector<std::string>& arguments,
                              std::map<std::string, std::string> environment) {
  environment["LD_LIBRARY_PATH"] = RIDGELINE_TEST_DRIVER_FOLDER;
  return run_ridgeline(arguments, {.environment = std::move(environment)});
}

void expect_reason(const std::map<std::string, std::string>& environment,
                   const std::string& reason) {
  const ProcessResult result = run_with_driver({"measure", "--gpu"}, environment);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("ridgeline: no CUDA device: " + reason));
  EXPECT_EQ(result.err.find('\n') + 1, result.err.size()) << result.err;
}

TEST(CudaDriver, WithoutADeviceSaysSo) {
  expect_reason({{"RIDGELINE_TEST_CUDA_INIT", "100"}}, "the driver sees no GPU");
}

TEST(CudaDriver, OlderThanTheRuntimeLibraryIsNamed) {
  expect_reason({{"RIDGELINE_TEST_CUDA_VERSION", "10020"}},
                "the driver is for CUDA 10.2 and this ridgeline for ");
}

TEST(CudaDriver, ThatDoesNotFitItsLibraryIsTheDriversOwnWord) {
  expect_reason({{"RIDGELINE_TEST_CUDA_INIT", "803"}}, "system has unsupported display driver");
}

TEST(CudaDriver, ThatFailsLeavesAllElse) {
  const std::map<std::string, std::string> fails{{"RIDGELINE_TEST_CUDA_INIT", "999"}};
  const ProcessResult list = run_with_driver({"measure", "--gpu", "--list"}, fails);
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("no CUDA device: "));
  EXPECT_EQ(run_with_driver({"devices"}, fails).exit_code, 0);
}

}  // namespace
}  // namespace ridgeline::testing
