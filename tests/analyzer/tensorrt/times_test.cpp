// Times of trtexec and nsys in all their forms, and their join with the layers by name.
#include "analyzer/tensorrt/times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "analyzer/tensorrt/kernels.h"
#include "base/error.h"
#include "base/text_file.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

using tensorrt::Engine;
using tensorrt::EngineTimes;
using tensorrt::join_times;
using tensorrt::read_times;
using ::testing::HasSubstr;

std::string toy_profile() {
  return read_text_file(source_file("tests/data/tensorrt/toy.profile.json"));
}

std::string failure(const std::string& text) {
  try {
    join_times(toy_engine(), {read_times(text, "t")});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TensorrtTimes, AProfileJoinsByNameAndAddsUp) {
  const Engine engine = toy_engine();
  const KernelTimes times = join_times(engine, {read_times(toy_profile(), "t")});
  EXPECT_EQ(times.runs, 1000);
  EXPECT_DOUBLE_EQ(times.total_s, 50e-6);
  EXPECT_DOUBLE_EQ(times.mean_s.at(2).value(), 16e-6);
  EXPECT_DOUBLE_EQ(times.median_s.at(2).value(), 15.9e-6);
  double sum = 0;
  for (const auto& time_s : times.mean_s) sum += time_s.value_or(0);
  EXPECT_DOUBLE_EQ(sum, times.total_s);
  EXPECT_TRUE(times.notes.empty());
}

TEST(TensorrtTimes, TheOrderOfTheFileDoesNotMatter) {
  const std::string text =
      R"([{"count": 10}, {"name": "body/pool", "timeMs": 60, "averageMs": 6, "percentage": 50},
          {"name": "head/fc_myl3_0", "timeMs": 10, "averageMs": 1, "percentage": 50},
          {"name": "__myl_MaxrSubExpSumDiv_myl3_1", "timeMs": 10, "averageMs": 1},
          {"name": "stem/conv + stem/relu", "timeMs": 10, "averageMs": 1},
          {"name": "body/conv + body/add + body/relu", "timeMs": 10, "averageMs": 1},
          {"name": "Reformatting CopyNode for Input Tensor 0 to stem/conv + stem/relu",
           "averageMs": 1}])";
  const KernelTimes times = join_times(toy_engine(), {read_times(text, "t")});
  EXPECT_DOUBLE_EQ(times.mean_s.at(3).value(), 6e-3);
  EXPECT_EQ(times.mean_s.at(4), std::nullopt) << "a NoOp may be missing";
  EXPECT_EQ(times.median_s.at(3), std::nullopt) << "old versions have no median";
}

TEST(TensorrtTimes, NamesAreNotEscapedByTrtexec) {
  Engine engine = toy_engine();
  engine.layers[3].name = R"(odd "name", with \ in it)";
  std::string text = toy_profile();
  const std::string plain = "body/pool";
  std::string raw = text, escaped = text;
  raw.replace(raw.find(plain), plain.size(), R"(odd "name", with \ in it)");
  escaped.replace(escaped.find(plain), plain.size(), R"(odd \"name\", with \\ in it)");
  for (const std::string& form : {raw, escaped})
    EXPECT_DOUBLE_EQ(join_times(engine, {read_times(form, "t")}).mean_s.at(3).value(), 6e-6);
}

TEST(TensorrtTimes, TwoLayersOfOneNameTakeTheirTimesInOrder) {
  Engine engine = toy_engine();
  engine.layers[5].name = engine.layers[3].name;
  std::string text = toy_profile();
  const std::string fc = "head/fc_myl3_0";
  text.replace(text.find(fc), fc.size(), "body/pool");
  const KernelTimes times = join_times(engine, {read_times(text, "t")});
  EXPECT_DOUBLE_EQ(times.mean_s.at(3).value(), 6e-6);
  EXPECT_DOUBLE_EQ(times.mean_s.at(5).value(), 7e-6);
}

TEST(TensorrtTimes, TimesOfAnotherEngineAreRefused) {
  std::string text = toy_profile();
  const std::string pool = "body/pool";
  text.replace(text.find(pool), pool.size(), "body/mean");
  EXPECT_THAT(failure(text), HasSubstr("times of another engine"));
  EXPECT_THAT(failure(R"([{"count": 1}, {"name": "body/pool", "timeMs": 1}])"),
              HasSubstr("5 of 6 layers have no time"));
}

TEST(TensorrtTimes, BadTimesAreRefused) {
  EXPECT_THAT(failure(R"([{"name": "body/pool", "timeMs": -1}])"), HasSubstr("negative"));
  EXPECT_THAT(failure(R"([{"name": "body/pool", "timeMs": NaN}])"), HasSubstr("NaN"));
  EXPECT_THAT(failure(R"([{"name": "body/pool"}])"), HasSubstr("without a time"));
  EXPECT_THAT(failure(toy_profile().substr(0, 200)), HasSubstr("cut off"));
  EXPECT_THAT(failure("[]"), HasSubstr("--exportProfile"));
  EXPECT_THAT(failure("nothing here\n"), HasSubstr("no times"));
}

TEST(TensorrtTimes, WholeRunsOfExportTimes) {
  const EngineTimes times = read_times(
      R"([{"startComputeMs": 0, "computeMs": 3, "latencyMs": 4}, {"computeMs": 1}, {"computeMs": 2}])",
      "t");
  EXPECT_TRUE(times.layers.empty());
  EXPECT_EQ(times.runs, 3);
  EXPECT_DOUBLE_EQ(times.run_s.value(), 2e-3);
  const KernelTimes both = join_times(toy_engine(), {read_times(toy_profile(), "p"), times});
  EXPECT_DOUBLE_EQ(both.run_s.value(), 2e-3);
  EXPECT_EQ(both.runs, 1000);
}

const std::string log_ten =
    "[I] Selected Device: NVIDIA H100 PCIe\n"
    "[07/07/2026-02:11:43] [I] === Profile (100 iterations ) ===\n"
    "[07/07/2026-02:11:43] [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer\n"
    "[07/07/2026-02:11:43] [I]       31.40       0.3140       0.3100       60.0   stem/conv + x\n"
    "[07/07/2026-02:11:43] [I]       20.00       0.2000       0.1900       40.0   body/pool\n"
    "[07/07/2026-02:11:43] [I]       51.40       0.5140       0.5000     100.0   Total\n";

TEST(TensorrtTimes, ProfilesInLogsOfBothOrders) {
  const EngineTimes ten = read_times(log_ten, "log");
  ASSERT_EQ(ten.layers.size(), 2u);
  EXPECT_EQ(ten.layers[0].name, "stem/conv + x");
  EXPECT_DOUBLE_EQ(ten.layers[0].mean_s, 0.314e-3);
  EXPECT_DOUBLE_EQ(ten.layers[0].median_s.value(), 0.31e-3);
  EXPECT_EQ(ten.device, "NVIDIA H100 PCIe");
  const EngineTimes eight = read_times(
      "[I] === Profile (10 iterations ) ===\n"
      "[I]                  Layer   Time (ms)   Avg. Time (ms)   Time %\n"
      "[I]          stem/conv + x        3.14           0.3140     60.0\n"
      "[I]              body/pool        2.00           0.2000     40.0\n"
      "[I]                  Total        5.14           0.5140    100.0\n"
      "[I] GPU Compute Time: min = 0.3 ms, max = 1 ms, mean = 0.5 ms, median = 0.4 ms\n",
      "log");
  ASSERT_EQ(eight.layers.size(), 2u);
  EXPECT_EQ(eight.layers[0].name, "stem/conv + x");
  EXPECT_DOUBLE_EQ(eight.layers[0].mean_s, 0.314e-3);
  EXPECT_EQ(eight.layers[0].median_s, std::nullopt);
  EXPECT_DOUBLE_EQ(eight.run_s.value(), 0.4e-3);
}

TEST(TensorrtTimes, ACutProfileInALogIsRefused) {
  EXPECT_THAT(failure(log_ten.substr(0, log_ten.find("[07/07/2026-02:11:43] [I]       51.40"))),
              HasSubstr("record it again"));
}

TEST(TensorrtTimes, NvtxRangesOfNsysAreLayers) {
  const EngineTimes times = read_times(
      "Processing [report.sqlite] with [nvtx_gpu_proj_sum.py]...\n"
      "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj "
      "Med (ns)\n"
      "TensorRT:body/pool,PushPop,600000,700000,100,6000,5900\n"
      "\"TensorRT:a, b\",PushPop,100000,700000,100,1000,1000\n",
      "nsys.csv");
  ASSERT_EQ(times.layers.size(), 2u);
  EXPECT_FALSE(times.are_kernels);
  EXPECT_EQ(times.layers[0].name, "body/pool");
  EXPECT_DOUBLE_EQ(times.layers[0].mean_s, 6e-6);
  EXPECT_DOUBLE_EQ(times.layers[0].median_s.value(), 5.9e-6);
  EXPECT_EQ(times.layers[1].name, "a, b");
}

TEST(TensorrtTimes, KernelsOfNsysAreTactics) {
  const Engine engine = toy_engine();
  const std::string csv =
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Name\n"
      "50.0,2800000,200,14000,14000," +
      engine.layers[1].tactic + "_execute_kernel_trt\n" + "20.0,700000,100,7000,7000," +
      engine.layers[5].tactic + "\n" + "30.0,500000,100,5000,5000,void copyPackedKernel<float>()\n";
  const KernelTimes times = join_times(engine, {read_times(csv, "nsys.csv")});
  EXPECT_EQ(times.runs, 100);
  EXPECT_DOUBLE_EQ(times.mean_s.at(5).value(), 7e-6);
  EXPECT_EQ(times.mean_s.at(1), std::nullopt) << "two convolutions launch this kernel";
  EXPECT_DOUBLE_EQ(times.shared_s, 28e-6);
  EXPECT_DOUBLE_EQ(times.other_s, 5e-6);
  EXPECT_DOUBLE_EQ(times.total_s, 40e-6);
  ASSERT_EQ(times.notes.size(), 1u);
  EXPECT_THAT(failure("Total Time (ns),Instances,Name\n1,1,other\n"),
              HasSubstr("times of another engine"));
}

std::string trt_data(const std::string& name) {
  const char* data = std::getenv("RIDGELINE_DATA");
  const std::string path = data == nullptr ? "" : std::string(data) + "/trt/" + name;
  return data != nullptr && std::filesystem::exists(path) ? path : "";
}

// Pairs of an engine and its profile; in each, the file's own percentages are the shares.
TEST(TensorrtCorpus, TimesAddUpToTheEngine) {
  if (trt_data("").empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no folder trt";
  const std::string a100 = "nvidia_trex_v11.0_tree/a100_pytorch_resnet/";
  const std::string pairs[][2] = {
      {a100 + "fp16/resnet.onnx.engine.graph.json", a100 + "fp16/resnet.onnx.engine.profile.json"},
      {a100 + "fp32/resnet.onnx.engine.graph.json", a100 + "fp32/resnet.onnx.engine.profile.json"},
      {a100 + "qat/resnet-qat.onnx.engine.graph.json",
       a100 + "qat/resnet-qat.onnx.engine.profile.json"},
      {a100 + "qat-residual/resnet-qat-residual.onnx.engine.graph.json",
       a100 + "qat-residual/resnet-qat-residual.onnx.engine.profile.json"},
      {"nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat.onnx.engine.graph.json",
       "nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat.onnx.engine.profile.json"},
      {"nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/mobilenet.qat.onnx.engine.graph.json",
       "nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/mobilenet.qat.onnx.engine.profile.json"},
      {"yuanjiechen_trt2023/b3d06c8/layerinfo.json", "yuanjiechen_trt2023/b3d06c8/profile.json"}};
  for (const auto& [graph, profile] : pairs) {
    const Engine engine = tensorrt::read_engine_file(trt_data(graph));
    const EngineTimes read = tensorrt::read_times_file(trt_data(profile));
    const KernelTimes times = join_times(engine, {read});
    double sum = 0;
    std::size_t joined = 0;
    for (const auto& time_s : times.mean_s) {
      sum += time_s.value_or(0);
      joined += time_s ? 1 : 0;
    }
    EXPECT_EQ(joined, engine.layers.size()) << graph;
    EXPECT_EQ(read.layers.size(), engine.layers.size()) << graph;
    EXPECT_NEAR(sum, times.total_s, 1e-9 * sum) << graph;
    EXPECT_TRUE(times.notes.empty()) << graph;
  }
  // One engine's times beside another: fp16 and fp32 of one network share most names.
  const Engine other = tensorrt::read_engine_file(trt_data(pairs[1][0]));
  EXPECT_THROW(join_times(other, {tensorrt::read_times_file(trt_data(pairs[0][1]))}), Error);
  // A log of another export, and logs with whole runs only.
  const EngineTimes log =
      tensorrt::read_times_file(trt_data("nvidia_cookbook_trt10.16/trtexec/result-05.log"));
  EXPECT_EQ(log.layers.size(), 15u);
  EXPECT_EQ(log.runs, 18362);
  for (const char* name : {"result-01.log", "result-03.log", "result-08.log"})
    EXPECT_GT(
        tensorrt::read_times_file(trt_data(std::string("nvidia_cookbook_trt10.16/trtexec/") + name))
            .run_s.value(),
        0);
}

}  // namespace
}  // namespace ridgeline::testing
