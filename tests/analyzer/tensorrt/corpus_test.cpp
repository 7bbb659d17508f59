// The corpus of public TensorRT files, $RIDGELINE_DATA/trt: every file by name is analysed or
// refused with a reason. Not part of the repository; skips with a message if it is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/kernels.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/text_file.h"
#include "tests/analyzer/tensorrt/toy.h"

namespace ridgeline::testing {
namespace {

namespace fs = std::filesystem;
using tensorrt::at_sizes;
using tensorrt::Engine;
using tensorrt::EngineLayer;
using tensorrt::Era;
using tensorrt::Kernels;
using tensorrt::kernels_of;
using tensorrt::read_engine_file;
using ::testing::HasSubstr;

std::string trt_folder() {
  const char* data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr || !fs::is_directory(fs::path(data) / "trt")) return "";
  return (fs::path(data) / "trt").string();
}

#define SKIP_WITHOUT_TRT() \
  if (trt_folder().empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no folder trt"

// How a file must end: with this many layers in this era, or with this in the message.
struct Expected {
  std::size_t layers = 0;
  Era era = Era::v8_2;
  const char* refusal = nullptr;
};

const std::map<std::string, Expected>& expectations() {
  static const char* const times = "give it as --times";
  static const char* const no_layers = "holds no layers of an engine";
  static const char* const no_information = "no layer information";
  static const std::map<std::string, Expected> table = {
      {"PROVENANCE.md", {0, {}, no_information}},
      {"golden_conv_macs.csv", {0, {}, no_information}},
      {"nvidia_cookbook_trt10.16/EngineInspector.log", {26, Era::v8_6}},
      {"nvidia_cookbook_trt10.16/ProfilingVerbosity.log", {26, Era::v8_6}},
      {"nvidia_cookbook_trt10.16/trtexec/model-trained-exportLayerInfo.log", {9, Era::v8_6}},
      {"nvidia_cookbook_trt10.16/trtexec/result-01.log", {0, {}, no_information}},
      {"nvidia_cookbook_trt10.16/trtexec/result-03.log", {0, {}, no_information}},
      {"nvidia_cookbook_trt10.16/trtexec/result-04.log", {9, Era::v8_6}},
      {"nvidia_cookbook_trt10.16/trtexec/result-05.log", {0, {}, times}},
      {"nvidia_cookbook_trt10.16/trtexec/result-08.log", {0, {}, no_information}},
      {"nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat.onnx.engine.graph.json",
       {85, Era::v8_2}},
      {"nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat.onnx.engine.metadata.json",
       {0, {}, no_layers}},
      {"nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat.onnx.engine.profile.json",
       {0, {}, times}},
      {"nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/mobilenet.qat.onnx.engine.graph.json",
       {73, Era::v8_4}},
      {"nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/"
       "mobilenet.qat.onnx.engine.profile.json",
       {0, {}, times}},
      {"nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/"
       "mobilenet.qat.onnx.engine.build.metadata.json",
       {0, {}, no_layers}},
      {"nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/"
       "mobilenet.qat.onnx.engine.profile.metadata.json",
       {0, {}, no_layers}},
      {"yuanjiechen_trt2023/b3d06c8/layerinfo.json", {385, Era::v8_6}},
      {"yuanjiechen_trt2023/b3d06c8/profile.json", {0, {}, times}},
  };
  return table;
}

// The four precisions of the A100's ResNet have files of the same names.
std::optional<Expected> expected_for(const std::string& name) {
  const auto row = expectations().find(name);
  if (row != expectations().end()) return row->second;
  if (name.find("a100_pytorch_resnet/") == std::string::npos) return std::nullopt;
  static const std::map<std::string, std::size_t> layers = {
      {"fp16", 36}, {"fp32", 32}, {"qat", 37}, {"qat-residual", 26}};
  const std::size_t at = name.find("a100_pytorch_resnet/") + 20;
  const std::string precision = name.substr(at, name.find('/', at) - at);
  if (name.ends_with("engine.graph.json")) return Expected{layers.at(precision), Era::v8_4};
  if (name.ends_with("engine.profile.json")) return Expected{0, {}, "give it as --times"};
  return Expected{0, {}, "holds no layers of an engine"};
}

TEST(TensorrtCorpus, EveryFileIsAnalysedOrRefusedWithAReason) {
  SKIP_WITHOUT_TRT();
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(trt_folder())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), trt_folder()).string();
    const auto expected = expected_for(name);
    ASSERT_TRUE(expected) << name << " is new: say here what becomes of it";
    ++files;
    try {
      const Engine engine = read_engine_file(entry.path().string());
      EXPECT_EQ(engine.layers.size(), expected->layers) << name;
      EXPECT_EQ(engine.era, expected->era) << name;
      const bool is_open = name.find("ProfilingVerbosity") != std::string::npos;
      for (int profile = 0; profile < engine.profiles; ++profile) {
        const Kernels kernels =
            kernels_of(at_sizes(engine, {profile, is_open ? std::optional(4) : std::nullopt, {}}));
        EXPECT_FALSE(kernels.demands.empty()) << name;
        EXPECT_TRUE(kernels.warnings.empty()) << name << ": " << kernels.warnings.front();
      }
    } catch (const Error& error) {
      ASSERT_NE(expected->refusal, nullptr) << name << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr(expected->refusal)) << name;
    }
  }
  EXPECT_EQ(files, 39u);
}

bool is_convolution(const EngineLayer& layer) {
  return layer.parameter == "Convolution" || layer.parameter == "ConvActPool";
}

bool is_opaque(const EngineLayer& layer) {
  static const std::set<std::string> types{"gemm", "kgen", "Myelin", "PluginV2"};
  return types.contains(layer.type);
}

TEST(TensorrtCorpus, ConvolutionsHaveTheGoldenMacs) {
  SKIP_WITHOUT_TRT();
  const std::string golden = trt_folder() + "/golden_conv_macs.csv";
  const auto rows = parse_csv(read_text_file(golden), golden);
  ASSERT_EQ(rows.size(), 9u);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& cells = rows[i].cells;
    const Engine engine = at_sizes(read_engine_file(trt_folder() + "/" + cells[0]), {});
    const Kernels kernels = kernels_of(engine);
    double convolutions = 0, macs = 0, weights = 0, opaque = 0;
    for (std::size_t j = 0; j < engine.layers.size(); ++j) {
      const EngineLayer& layer = engine.layers[j];
      opaque += is_opaque(layer) ? 1 : 0;
      if (!is_convolution(layer)) continue;
      convolutions += 1;
      macs += kernels.counts[j].work.macs;
      weights += static_cast<double>(layer.weights.count);
    }
    EXPECT_EQ(engine.layers.size(), std::stoul(cells[1])) << cells[0];
    EXPECT_EQ(convolutions, std::stod(cells[2])) << cells[0];
    EXPECT_EQ(macs, std::stod(cells[3])) << cells[0];
    EXPECT_EQ(weights, std::stod(cells[4])) << cells[0];
    EXPECT_TRUE(kernels.warnings.empty()) << cells[0] << ": weights against dimensions";
    EXPECT_EQ(opaque, std::stod(cells[6])) << cells[0];
  }
}

TEST(TensorrtCorpus, TheFormOfElevenGivesTheSameKernels) {
  SKIP_WITHOUT_TRT();
  for (const char* name : {"nvidia_cookbook_trt10.16/trtexec/model-trained-exportLayerInfo.log",
                           "yuanjiechen_trt2023/b3d06c8/layerinfo.json"}) {
    const std::string text = read_text_file(trt_folder() + "/" + name);
    const Kernels ten = kernels_of(at_sizes(tensorrt::read_engine(text, name), {}));
    const Engine rewritten = tensorrt::read_engine(as_eleven(text), name);
    EXPECT_EQ(rewritten.era, Era::v11);
    const Kernels eleven = kernels_of(at_sizes(rewritten, {}));
    EXPECT_EQ(eleven.demands, ten.demands) << name;
  }
}

// The same engine as JSON and as the text of the log that wrote it.
TEST(TensorrtCorpus, TextAndJsonOfOneEngineAgree) {
  SKIP_WITHOUT_TRT();
  const std::string folder = trt_folder() + "/nvidia_cookbook_trt10.16/trtexec/";
  const Engine json = read_engine_file(folder + "model-trained-exportLayerInfo.log");
  Engine text = read_engine_file(folder + "result-04.log");
  EXPECT_EQ(text.device, "NVIDIA H100 PCIe");
  EXPECT_EQ(text.version, "10.16.1");
  ASSERT_EQ(text.layers.size(), json.layers.size());
  for (std::size_t i = 0; i < json.layers.size(); ++i) {
    // Two builds of one network: two kernels were tuned differently.
    text.layers[i].tactic = json.layers[i].tactic;
    text.layers[i].tactic_value = json.layers[i].tactic_value;
    EXPECT_EQ(text.layers[i], json.layers[i]) << json.layers[i].name;
  }
}

}  // namespace
}  // namespace ridgeline::testing
