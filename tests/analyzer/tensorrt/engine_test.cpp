// Reading layer information: every generation's form, logs, streams, and what must be refused.
#include "analyzer/tensorrt/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analyzer/tensorrt/kernels.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/analyzer/tensorrt/toy.h"

namespace ridgeline::testing {
namespace {

using tensorrt::Engine;
using tensorrt::EngineLayer;
using tensorrt::Era;
using tensorrt::read_engine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const one_layer =
    R"({"Name": "a", "LayerType": "Reformat", "ParameterType": "Reformat",
        "Inputs": [{"Name": "x", "Dimensions": [2,3], "Format/Datatype": "Row major linear FP32"}],
        "Outputs": [{"Name": "y", "Dimensions": [2,3], "Format/Datatype": "Half"}]})";

std::string error_of(const std::string& text) {
  try {
    read_engine(text, "e.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TensorrtEngine, ReadsLayersWithTensorsParametersAndNodes) {
  const Engine engine = toy_engine();
  ASSERT_EQ(engine.layers.size(), 7u);
  EXPECT_EQ(engine.era, Era::v8_6);
  EXPECT_EQ(engine.profiles, 1);
  const EngineLayer& stem = engine.layers[1];
  EXPECT_EQ(stem.name, "stem/conv + stem/relu");
  EXPECT_EQ(stem.type, "CaskConvolution");
  EXPECT_EQ(stem.window.size, (Shape{3, 3}));
  EXPECT_EQ(stem.out_maps, 16);
  EXPECT_EQ(stem.weights.count, 432);
  EXPECT_EQ(stem.weights.type, ElementType::fp16);
  EXPECT_EQ(stem.activation, "RELU");
  EXPECT_THAT(stem.onnx_nodes, ElementsAre("stem/conv", "stem/relu"));
  const auto& input = stem.inputs.at(0);
  EXPECT_EQ(input.shape, (Shape{2, 3, 16, 16}));
  EXPECT_EQ(input.format.type, ElementType::fp16);
  EXPECT_EQ(input.format.channel_multiple, 8);
  EXPECT_EQ(tensor_bytes(input), 2.0 * 8 * 16 * 16 * 2) << "channels are padded from 3 to 8";
  const EngineLayer& pool = engine.layers[3];
  EXPECT_EQ(pool.pool.size, (Shape{16, 16}));
  EXPECT_EQ(pool.pool.stride, (Shape{1, 1}));
  EXPECT_TRUE(pool.window.stride.empty());
}

TEST(TensorrtEngine, CompletesInputsAndOutputsFromTheLayers) {
  const Engine engine = toy_engine();
  ASSERT_EQ(engine.io.size(), 2u);
  EXPECT_EQ(engine.io[0].tensor.name, "image");
  EXPECT_EQ(engine.io[0].is_input, true);
  EXPECT_EQ(engine.io[0].tensor.shape, (Shape{2, 3, 16, 16}));
  EXPECT_EQ(engine.io[1].is_input, false);
  EXPECT_EQ(engine.io[1].tensor.format.type, ElementType::fp32);
}

TEST(TensorrtEngine, TheFormOfElevenReadsAsTheSameLayers) {
  Engine ten = toy_engine();
  Engine eleven = read_engine(as_eleven(toy_text()), "toy.graph.json");
  EXPECT_EQ(eleven.era, Era::v11);
  EXPECT_EQ(eleven.layers, ten.layers);
  ASSERT_EQ(eleven.io.size(), ten.io.size());
  EXPECT_EQ(eleven.io[0].profiles.at(0).opt, (Shape{2, 3, 16, 16}));
  EXPECT_EQ(eleven.io[0].tensor.shape, ten.io[0].tensor.shape);
  EXPECT_EQ(eleven.io[0].is_input, true);
  EXPECT_EQ(kernels_of(eleven).demands, kernels_of(ten).demands);
}

TEST(TensorrtEngine, ErasAreToldByTheirMembers) {
  EXPECT_EQ(read_engine(one_layer, "e").era, Era::v8_2);
  std::string located = one_layer;
  located.replace(located.find("\"Dimensions\""), 0, "\"Location\": \"Device\", ");
  EXPECT_EQ(read_engine(located, "e").era, Era::v8_4);
}

TEST(TensorrtEngine, AcceptsAStreamAListAndAByteOrderMark) {
  std::string second = one_layer;
  second.replace(second.find("\"a\""), 3, "\"b\"");
  for (const std::string& text :
       {one_layer + std::string("\n") + second, one_layer + std::string(",") + second,
        "[" + (one_layer + std::string(",")) + second + "]",
        "\xEF\xBB\xBF" + (one_layer + std::string("\n")) + second}) {
    const Engine engine = read_engine(text, "e");
    ASSERT_EQ(engine.layers.size(), 2u) << text;
    EXPECT_EQ(engine.layers[1].name, "b");
  }
}

TEST(TensorrtEngine, FindsJsonInsideALog) {
  const Engine engine = read_engine("[I] built\n[I] TensorRT version: 10.3.0\n" + toy_text() +
                                        "\n[I] Selected Device: NVIDIA X\n[I] done\n",
                                    "log");
  EXPECT_EQ(engine.layers, toy_engine().layers);
  EXPECT_EQ(engine.version, "10.3.0");
  EXPECT_EQ(engine.device, "NVIDIA X");
}

const std::string text_log =
    "&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec\n"
    "[07/07/2026-02:11:38] [I] Selected Device: NVIDIA H100 PCIe\n"
    "[07/07/2026-02:11:38] [I] Layers:\n"
    "Name: PWN(PWN(Sigmoid_79), Mul_80), LayerType: PointWiseV2, Inputs: [ { Name: x, Location: "
    "Device, Dimensions: [1,16,4,4], Format/Datatype: Channel major FP16 format where channel % 8 "
    "== 0 }], Outputs: [ { Name: y, Location: Device, Dimensions: [1,16,4,4], Format/Datatype: "
    "Half }], ParameterType: PointWise, NbOperations: 2, Operations: [auto const var0 = "
    "pwgen::iExp(arg0);, auto const var1 = pwgen::iMul(arg0, var0);], TacticName: , StreamId: 0, "
    "Metadata: [ONNX Layer: Sigmoid_79][ONNX Layer: Mul_80]\n"
    "Name: __mye1_0_myl3_0, LayerType: shape_call, Inputs: [], Outputs: [], TacticName: , "
    "StreamId: 0, Metadata:\n"
    "Name: a [profile 1], LayerType: NoOp, Inputs: [ { Name: x [profile 1], Location: Device, "
    "Dimensions: [-1,16], Format/Datatype: Half }], Outputs: [ { Name: y [profile 1], Location: "
    "Device, Dimensions: [-1,16], Format/Datatype: Half }], TacticValue: 0x0, StreamId: 0, "
    "Metadata:\n"
    "\n"
    "Bindings:\n"
    "x\n"
    "y\n"
    "[07/07/2026-02:11:38] [I] Skipped inference phase\n";

TEST(TensorrtEngine, ReadsTheTextFormOfALog) {
  const Engine engine = read_engine(text_log, "log");
  ASSERT_EQ(engine.layers.size(), 3u);
  EXPECT_EQ(engine.layers[0].name, "PWN(PWN(Sigmoid_79), Mul_80)");
  EXPECT_EQ(engine.layers[0].expression.size(), 2u);
  EXPECT_EQ(engine.layers[0].inputs.at(0).format.channel_multiple, 8);
  EXPECT_THAT(engine.layers[0].onnx_nodes, ElementsAre("Sigmoid_79", "Mul_80"));
  EXPECT_TRUE(engine.layers[1].inputs.empty());
  EXPECT_EQ(engine.layers[2].profile, 1);
  EXPECT_EQ(engine.layers[2].inputs.at(0).shape, (Shape{-1, 16}));
  EXPECT_EQ(engine.profiles, 2);
  EXPECT_EQ(engine.version, "10.16.1");
  EXPECT_EQ(engine.device, "NVIDIA H100 PCIe");
  ASSERT_EQ(engine.io.size(), 2u);
  EXPECT_EQ(engine.io[0].is_input, true);
}

TEST(TensorrtEngine, ATruncatedLogIsRefused) {
  const std::size_t layer = text_log.find("Name: a [profile");
  const std::size_t blank = text_log.find("\n\nBindings");
  for (const std::size_t end : {layer - 1, layer + 20, layer + 60, blank - 4})
    EXPECT_THAT(error_of(text_log.substr(0, end)), HasSubstr("record it again")) << end;
}

TEST(TensorrtEngine, NamesOnlyAreRefusedWithTheFlag) {
  EXPECT_THAT(error_of(R"({"Layers": ["conv1", "conv2"], "Bindings": ["x"]})"),
              HasSubstr("--profilingVerbosity=detailed"));
  EXPECT_THAT(error_of(R"(["conv1", "conv2"])"), HasSubstr("--profilingVerbosity=detailed"));
  EXPECT_THAT(error_of("[I] TensorRT\n[I] Layers:\nconv1 + relu\npool\n\nBindings:\nx\n"),
              HasSubstr("--profilingVerbosity=detailed"));
}

TEST(TensorrtEngine, TwoEnginesInOneFileAreRefused) {
  EXPECT_THAT(error_of(toy_text() + toy_text()), HasSubstr("holds two engines"));
  EXPECT_THAT(error_of("log TensorRT\n" + toy_text() + "\nmore\n" + toy_text()),
              HasSubstr("holds two engines"));
  std::string other = text_log;
  other.replace(other.find("PointWiseV2"), 11, "PointWise");
  EXPECT_THAT(error_of(text_log + other), HasSubstr("holds two engines"));
  EXPECT_EQ(error_of(text_log + text_log), "no error") << "printed when built and when run";
}

TEST(TensorrtEngine, OtherFilesAreRefusedWithWhatToGive) {
  EXPECT_THAT(error_of(R"([{"count": 3}, {"name": "a", "timeMs": 1, "averageMs": 1}])"),
              HasSubstr("--times"));
  EXPECT_THAT(error_of(R"({"schema": "ridgeline.profile/1"})"), HasSubstr("ridgeline.profile/1"));
  EXPECT_THAT(error_of(R"({"build_options": {}})"), HasSubstr("--exportLayerInfo"));
  EXPECT_THAT(error_of(R"({"Layers": []})"), HasSubstr("no layers"));
  EXPECT_THAT(error_of("  \n"), HasSubstr("empty"));
  EXPECT_THAT(error_of("[I] TensorRT version: 10.3.0\n[I] done\n"), HasSubstr("no layer"));
}

TEST(TensorrtEngine, MalformedTextHasByteAndLine) {
  EXPECT_THAT(error_of("{\"Layers\": [\n{\"Name\": \"a\""), HasSubstr("line 2"));
  EXPECT_THAT(error_of(toy_text().substr(0, 900)), HasSubstr("cut off"));
  EXPECT_THAT(error_of(R"({"Layers": [{"Name": "a", "OutMaps": NaN}]})"), HasSubstr("NaN"));
  EXPECT_THAT(error_of(R"({"Layers": [{"Name": "a", "OutMaps": -4}]})"), HasSubstr("negative"));
  EXPECT_THAT(error_of(R"({"Layers": [{"Name": "a", "OutMaps": 1e300}]})"), HasSubstr("1e300"));
  std::string negative = one_layer;
  negative.replace(negative.find("[2,3]"), 5, "[2,-3]");
  EXPECT_THAT(error_of(negative), HasSubstr("the size -3 is negative"));
}

TEST(TensorrtEngine, DeepNestingIsAMessage) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 10'000; ++i) deep += open;
    EXPECT_NE(error_of(deep), "no error");
    EXPECT_THAT(error_of("{\"Layers\": [{\"Name\": \"a\", \"Odd\": " + deep + "}]}"),
                HasSubstr("nested deeper than 64 levels"));
  }
}

RC_GTEST_PROP(TensorrtEngineProperties, CutOrChangedTextIsReadOrRefused, ()) {
  static const std::string whole = toy_text();
  std::string text = whole;
  const auto at = *rc::gen::inRange<std::size_t>(0, whole.size());
  if (*rc::gen::arbitrary<bool>())
    text.resize(at);
  else
    text[at] = *rc::gen::arbitrary<char>();
  try {
    kernels_of(at_sizes(read_engine(text, "e"), {}));
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

TEST(TensorrtEngine, RecognizesItsFilesAndNoModel) {
  using tensorrt::looks_like_engine;
  EXPECT_TRUE(looks_like_engine("{\"Layers\": ["));
  EXPECT_TRUE(looks_like_engine(" [ {\"Name\""));
  EXPECT_TRUE(looks_like_engine("[07/07/2026-02:11:29] [I] TensorRT version: 10.16.1\n"));
  EXPECT_FALSE(looks_like_engine("\x08\x07\x12\x07pytorch TensorRT"));
  EXPECT_FALSE(looks_like_engine("some text"));
  EXPECT_FALSE(looks_like_engine(""));
}

TEST(TensorrtEngine, NamesWithoutTheirProfile) {
  EXPECT_EQ(tensorrt::without_profile("conv1 [profile 1]"), "conv1");
  EXPECT_EQ(tensorrt::without_profile("node_linear [profile 1]_myl11_2"), "node_linear_myl11_2");
  EXPECT_EQ(tensorrt::without_profile("conv1"), "conv1");
}

}  // namespace
}  // namespace ridgeline::testing
