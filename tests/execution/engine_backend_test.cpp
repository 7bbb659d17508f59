// Engines as libnvinfer runs them, played by stand-ins for it and for CUDA's driver if TensorRT's
// headers are installed.
#include "execution/engine_backend.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string nvinfer() { return testing::build_file("tests/libridgeline_test_nvinfer.so"); }
std::string cuda() { return testing::build_file("tests/libridgeline_test_cuda.so"); }

class EngineRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(nvinfer()))
      GTEST_SKIP() << "TensorRT's headers are not installed: libnvinfer's stand-in was not built";
    folder_.write("times", "0.5 conv1\n0.25 relu \"a\"\n0.25 conv1\n");
    setenv("RIDGELINE_TEST_NVINFER_TIMES", folder_.file("times").c_str(), 1);
  }
  void TearDown() override {
    for (const char* const name : {"RIDGELINE_TEST_NVINFER_TIMES", "RIDGELINE_TEST_NVINFER_VERSION",
                                   "RIDGELINE_TEST_CUDA_FAULT", "RIDGELINE_TEST_CUDA_MEMORY"})
      unsetenv(name);
  }

  std::unique_ptr<EngineExecutable> open(const std::string& content,
                                         const tensorrt::InputShapes& shapes = {},
                                         int profile = 0) {
    folder_.write("net.plan", testing::engine_bytes(content));
    return engine_executable(folder_.file("net.plan"), {nvinfer(), driver_, shapes, profile});
  }
  std::string failure(const std::string& content, const tensorrt::InputShapes& shapes = {},
                      int profile = 0) {
    try {
      const auto engine = open(content, shapes, profile);
      engine->step();
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), folder_.file("net.plan"));
      EXPECT_THAT(std::string(error.what()), Not(HasSubstr("\n")));
      return error.what();
    }
    return "no error";
  }

  std::string driver_ = cuda();
  testing::TemporaryDirectory folder_;
};

TEST_F(EngineRuns, AStepTakesAsLongAsItsLayers) {
  const auto engine = open("[]");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) engine->step();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(time.count(), 0.010);
  EXPECT_THAT(engine->library(), HasSubstr("on Stand-in GPU"));
  EXPECT_EQ(engine->gpu_bus_id(), "0000:00:00.0");
}

TEST_F(EngineRuns, RecordedStepsHaveTheTimesThatTensorRtReports) {
  const auto engine = open("[]");
  engine->step();
  for (int i = 0; i < 2; ++i) {
    const RecordedStep step = engine->recorded_step();
    ASSERT_EQ(step.calls.size(), 3u);
    EXPECT_EQ(step.calls[1].name, "relu \"a\"");
    EXPECT_FLOAT_EQ(static_cast<float>(step.calls[1].start_s), 0.5e-3f);
    EXPECT_FLOAT_EQ(static_cast<float>(step.calls[1].time_s), 0.25e-3f);
    EXPECT_EQ(step.calls[0].layer, step.calls[2].layer) << "the same name";
    EXPECT_GE(step.time_s, 1e-3);
  }
  EXPECT_THAT(engine->layer_names(), ElementsAre("conv1", "relu \"a\""));
  engine->step();  // still without a profiler
}

TEST_F(EngineRuns, NothingOfTheGpuIsKept) {
  const auto close = [](void* handle) { dlclose(handle); };
  const std::unique_ptr<void, decltype(close)> library(dlopen(driver_.c_str(), RTLD_NOW), close);
  const auto left = reinterpret_cast<int (*)()>(dlsym(library.get(), "ridgeline_test_cuda_left"));
  {
    const auto engine = open("[]");
    engine->recorded_step();
    EXPECT_GT(left(), 0);
  }
  EXPECT_EQ(left(), 0);
  EXPECT_THAT(failure("too large"), HasSubstr("cannot be prepared"));
  EXPECT_EQ(left(), 0);
}

TEST_F(EngineRuns, ShapesAndProfilesAreThoseThatTheUserChose) {
  setenv("RIDGELINE_TEST_CUDA_MEMORY", std::to_string(4 * 3 * 224 * 224 * 4).c_str(), 1);
  EXPECT_THAT(failure("[]"), HasSubstr("the GPU has no 4.59 MiB left"));
  EXPECT_EQ(failure("[]", {{"images", {4, 3, 224, 224}}}), "no error");
  EXPECT_EQ(failure("[]", {}, 1), "no error");
  EXPECT_THAT(failure("[]", {}, 2), HasSubstr("no optimisation profile 2"));
  EXPECT_THAT(failure("[]", {{"images", {17, 3, 224, 224}}}), HasSubstr("does not accept"));
}

// Each context has activation memory of its own.
TEST_F(EngineRuns, OneContextIsThereAtATime) {
  const auto engine = open("room for one context");
  for (int i = 0; i < 2; ++i) {
    engine->step();
    EXPECT_EQ(engine->recorded_step().calls.size(), 3u);
    EXPECT_EQ(engine->recorded_step().calls.size(), 3u);
  }
}

TEST_F(EngineRuns, AnErrorOfSomethingElseIsNoReason) {
  EXPECT_THAT(failure("old error, too large"), Not(HasSubstr("TensorRT reports")));
  EXPECT_THAT(failure("old error", {}, 2), Not(HasSubstr("TensorRT reports")));
  EXPECT_THAT(failure("old error", {{"images", {1}}}),
              HasSubstr("TensorRT reports \"setInputShape: four axes needed\""));
}

TEST_F(EngineRuns, SizesAreNotCountedPastTheEndOfNumbers) {
  constexpr std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THAT(failure("[]", {{"images", {8, large, 1 << 19, 1}}}),  // 2^64 bytes
              HasSubstr("\"images\" without a size that memory can have"));
  EXPECT_THAT(failure("[]", {{"images", {8, large, large, 1}}}), HasSubstr("without a size"));
}

TEST_F(EngineRuns, WhatCannotRunIsOneLine) {
  EXPECT_THAT(failure("other device"), HasSubstr("compute capability 8.9, this one has 8.7"));
  EXPECT_THAT(failure("other version"), HasSubstr("was built by TensorRT 10.3.0.26"));
  EXPECT_THAT(failure("sizes on the host"), HasSubstr("trtexec"));
  EXPECT_THAT(failure("does not run"), HasSubstr("illegal memory access"));
  setenv("RIDGELINE_TEST_CUDA_FAULT", "100", 1);
  EXPECT_THAT(failure("[]"), HasSubstr("CUDA reports no CUDA-capable device is detected"));
  driver_ = "libcuda.so.99";
  EXPECT_THAT(failure("[]"), HasSubstr("NVIDIA's driver (libcuda.so.99) is not installed"));
  driver_ = nvinfer();
  EXPECT_THAT(failure("[]"), HasSubstr("lacks cuInit"));
  setenv("RIDGELINE_TEST_NVINFER_VERSION", "8601", 1);
  EXPECT_THAT(failure("[]"), HasSubstr("is TensorRT 8"));
  EXPECT_THAT(why_no_engine_runs({nvinfer()}), HasSubstr("is TensorRT 8"));
}

}  // namespace
}  // namespace ridgeline
