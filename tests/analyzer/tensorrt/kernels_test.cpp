// The work of an engine's layers: MACs, FLOP, bytes with padding, units by tactic, what is opaque.
#include "analyzer/tensorrt/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/graph/unknown_operators.h"
#include "base/error.h"
#include "tests/analyzer/tensorrt/toy.h"

namespace ridgeline::testing {
namespace {

using tensorrt::at_sizes;
using tensorrt::Engine;
using tensorrt::EngineLayer;
using tensorrt::Kernels;
using tensorrt::kernels_of;
using tensorrt::read_engine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Demand& demand_named(const Kernels& kernels, const std::string& name) {
  for (const Demand& demand : kernels.demands)
    if (demand.name == name) return demand;
  throw Error(name, "no such kernel");
}

double flop_on(const Work& work, Unit unit, DType dtype) {
  for (const FlopCount& part : work.flop)
    if (part.unit == unit && part.dtype == dtype) return part.flop;
  return 0;
}

TEST(TensorrtKernels, ConvolutionsCountLikeThoseOfOnnx) {
  const Kernels kernels = kernels_of(toy_engine());
  const Demand& stem = demand_named(kernels, "stem/conv + stem/relu");
  constexpr double outputs = 2 * 16 * 16 * 16, macs = outputs * 3 * 9;
  EXPECT_EQ(stem.work.macs, macs);
  EXPECT_EQ(stem.kind, KernelKind::convolution);
  EXPECT_EQ(flop_on(stem.work, Unit::matrix, DType::fp16), 2 * macs);
  EXPECT_EQ(flop_on(stem.work, Unit::vector, DType::fp16), 2 * outputs) << "bias and relu";
  EXPECT_EQ(stem.work.weight_bytes_read, 2.0 * (432 + 16));
  EXPECT_EQ(stem.work.bytes_read, 2.0 * 2 * 8 * 16 * 16) << "padded to eight channels";
  EXPECT_EQ(stem.work.bytes_written, 2 * outputs);
  EXPECT_THAT(stem.source_layers, ElementsAre("stem/conv", "stem/relu"));
  ASSERT_TRUE(stem.gemm);
  EXPECT_EQ(*stem.gemm, (Gemm{2 * 16 * 16, 16, 27, 1, 9}));
}

TEST(TensorrtKernels, AResidualIsReadOnceAndAdded) {
  const Kernels kernels = kernels_of(toy_engine());
  const Demand& body = demand_named(kernels, "body/conv + body/add + body/relu");
  constexpr double outputs = 2 * 16 * 16 * 16;
  EXPECT_EQ(flop_on(body.work, Unit::vector, DType::fp16), 3 * outputs) << "bias, sum, relu";
  EXPECT_EQ(body.reads.at(0).producer, "stem/conv + stem/relu");
  EXPECT_EQ(body.work.bytes_read, 2 * outputs) << "listed twice, moved once";
}

TEST(TensorrtKernels, ReformatsAreTrafficAndNoOpsNothing) {
  const Kernels kernels = kernels_of(toy_engine());
  const Demand& reformat = kernels.demands.front();
  EXPECT_EQ(reformat.kind, KernelKind::copy);
  EXPECT_TRUE(reformat.work.flop.empty());
  EXPECT_EQ(reformat.work.bytes_read, 4.0 * 2 * 3 * 16 * 16);
  EXPECT_EQ(reformat.work.bytes_written, 2.0 * 2 * 8 * 16 * 16);
  for (const Demand& demand : kernels.demands) EXPECT_NE(demand.name, "head/flatten");
  EXPECT_EQ(kernels.graph.layers.size(), 7u) << "but it has a row";
}

TEST(TensorrtKernels, APlainGemmFollowsFromItsTensors) {
  const Kernels kernels = kernels_of(toy_engine());
  const Demand& fc = demand_named(kernels, "head/fc_myl3_0");
  EXPECT_EQ(fc.kind, KernelKind::linear);
  EXPECT_EQ(fc.work.macs, 2 * 16 * 10);
  EXPECT_EQ(fc.work.weight_bytes_read, 2.0 * 16 * 10) << "Myelin does not list weights";
  EXPECT_EQ(fc.reads.at(0).producer, "body/pool") << "through a NoOp";
}

TEST(TensorrtKernels, WhatMyelinGeneratesIsOpaque) {
  const Kernels kernels = kernels_of(toy_engine());
  const auto unknown = unknown_operators(kernels.graph);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].op, "kgen");
  EXPECT_THAT(unknown[0].reason, HasSubstr("--onnx"));
  const Demand& kgen = kernels.demands.back();
  EXPECT_EQ(kgen.work.bytes_read, 2.0 * 2 * 10);
  EXPECT_EQ(kgen.work.bytes_written, 4.0 * 2 * 10);
  EXPECT_EQ(total_operations(kgen.work), 0);
}

TEST(TensorrtKernels, TacticsOutsideTensorCoresRunOnVectorUnits) {
  Engine engine = toy_engine();
  engine.layers[1].tactic = "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_ffma";
  const Kernels kernels = kernels_of(engine);
  const Work& work = demand_named(kernels, "stem/conv + stem/relu").work;
  EXPECT_EQ(flop_on(work, Unit::matrix, DType::fp32), 0);
  EXPECT_GT(flop_on(work, Unit::vector, DType::fp32), 2.0 * 2 * 16 * 16 * 16 * 27 - 1);
}

EngineLayer layer_of(const std::string& json) { return read_engine(json, "layer").layers.at(0); }

Kernels kernels_of_layer(const std::string& json) { return kernels_of(read_engine(json, "layer")); }

TEST(TensorrtKernels, AConvActPoolConvolvesBeforeItPools) {
  const Kernels kernels = kernels_of_layer(R"({"Name": "c", "LayerType": "ConvActPool",
    "Inputs": [{"Name": "x", "Dimensions": [32,3,224,224], "Format/Datatype": "Row major Int8 format"}],
    "Outputs": [{"Name": "y", "Dimensions": [32,64,56,56], "Format/Datatype":
      "Thirty-two wide channel vectorized row major Int8 format"}],
    "ParameterType": "ConvActPool", "ConvParameterType": "Convolution", "ConvKernel": [7,7],
    "ConvPrePadding": [3,3], "ConvPostPadding": [3,3], "ConvStride": [2,2], "ConvDilation": [1,1],
    "ConvOutMaps": 64, "ConvGroups": 1, "ConvWeights": {"Type": "Int8", "Count": 9408},
    "ConvBias": {"Type": "Float", "Count": 64}, "ConvActivation": "RELU",
    "PoolingPoolingType": "MAX", "PoolingWindowSize": [3,3], "PoolingStride": [2,2]})");
  const Work& work = kernels.demands.at(0).work;
  EXPECT_EQ(work.macs, 32.0 * 64 * 112 * 112 * 3 * 49);
  EXPECT_EQ(flop_on(work, Unit::matrix, DType::int8), 2 * work.macs);
  EXPECT_TRUE(kernels.warnings.empty());
}

TEST(TensorrtKernels, ADeconvolutionThatCallsItselfConvolution) {
  const Kernels kernels = kernels_of_layer(R"({"Name": "d", "LayerType": "CaskDeconvolutionV2",
    "Inputs": [{"Name": "x", "Dimensions": [1,8,4,4], "Format/Datatype": "Half"}],
    "Outputs": [{"Name": "y", "Dimensions": [1,4,8,8], "Format/Datatype": "Half"}],
    "ParameterType": "Convolution", "Kernel": [2,2], "Stride": [2,2], "OutMaps": 4, "Groups": 1,
    "Weights": {"Type": "Half", "Count": 128}})");
  EXPECT_EQ(kernels.demands.at(0).work.macs, 8.0 * 16 * 4 * 4);
  EXPECT_EQ(kernels.demands.at(0).trait, KernelTrait::transposed);
}

TEST(TensorrtKernels, ExpressionsCountTheirOperations) {
  for (const char* form : {"auto const", "const auto"}) {
    std::string json = R"({"Name": "p", "LayerType": "PointWiseV2", "ParameterType": "PointWise",
      "Inputs": [{"Name": "x", "Dimensions": [1,100], "Format/Datatype": "Float"}],
      "Outputs": [{"Name": "y", "Dimensions": [1,100], "Format/Datatype": "Float"}],
      "Operations": ["AUTO var0 = pwgen::iMul(arg0, arg1);", "AUTO var1 = pwgen::iPlus(var0, arg1);",
                     "AUTO var2 = pwgen::iNovel(var1);", "AUTO var3 = var2;"]})";
    for (auto at = json.find("AUTO"); at != std::string::npos; at = json.find("AUTO"))
      json.replace(at, 4, form);
    EXPECT_EQ(total_flop(kernels_of_layer(json).demands.at(0).work), 300);
  }
}

TEST(TensorrtKernels, OtherLayersThatDescribeThemselves) {
  const std::string ends =
      R"("Inputs": [{"Name": "x", "Dimensions": [2,8,4,4], "Format/Datatype": "Half"}],
         "Outputs": [{"Name": "y", "Dimensions": [2,8,4,4], "Format/Datatype": "Half"}])";
  const auto kind = [&](const std::string& members) {
    return kernels_of_layer("{\"Name\": \"l\", " + members + ", " + ends + "}").demands.at(0).kind;
  };
  EXPECT_EQ(kind(R"("LayerType": "CudaSoftMax", "ParameterType": "SoftMax")"), KernelKind::softmax);
  EXPECT_EQ(kind(R"("LayerType": "ElementWise", "ParameterType": "ElementWise",
                    "ElementWiseOperation": "PROD")"),
            KernelKind::elementwise);
  EXPECT_EQ(kind(R"("LayerType": "Scale", "ParameterType": "Scale",
                    "Scale": {"Type": "Float", "Count": 8})"),
            KernelKind::elementwise);
  EXPECT_EQ(kind(R"("LayerType": "Shuffle", "ParameterType": "Shuffle")"), KernelKind::copy);
  EXPECT_EQ(kind(R"("LayerType": "Slice", "ParameterType": "Slice")"), KernelKind::copy);
  EXPECT_EQ(kind(R"("LayerType": "MyelinReformat")"), KernelKind::copy);
  EXPECT_EQ(kind(R"("LayerType": "PluginV2", "PluginType": "InstanceNormalization_TRT")"),
            KernelKind::normalize);
  EXPECT_EQ(kind(R"("LayerType": "DLA")"), KernelKind::other);
  EXPECT_EQ(kind(R"("LayerType": "SomethingNew")"), KernelKind::other);
}

TEST(TensorrtKernels, LayersWithoutWork) {
  EXPECT_TRUE(is_idle(layer_of(R"({"Name": "n", "LayerType": "NoOp"})")));
  EXPECT_TRUE(is_idle(layer_of(R"({"Name": "n", "LayerType": "shape_call"})")));
  EXPECT_TRUE(is_idle(layer_of(R"({"Name": "n", "LayerType": "Constant", "ParameterType":
      "Constant", "weights": {"Type": "Float", "Count": 160}})")));
  EXPECT_FALSE(is_idle(layer_of(R"({"Name": "n", "LayerType": "kgen"})")));
}

TEST(TensorrtKernels, DynamicSizesComeFromTheInputsOrTheUser) {
  const std::string inside = R"({"Layers": [
    {"Name": "a", "LayerType": "Reformat", "ParameterType": "Reformat",
     "Inputs": [{"Name": "x", "Dimensions": [4,16], "Format/Datatype": "Half"}],
     "Outputs": [{"Name": "y", "Dimensions": [4,16], "Format/Datatype": "Half"}]},
    {"Name": "g_myl1_0", "LayerType": "gemm",
     "Inputs": [{"Name": "y", "Dimensions": [-1,16], "Format/Datatype": "Half"}],
     "Outputs": [{"Name": "z", "Dimensions": [-1,8], "Format/Datatype": "Half"}]}],
    "Bindings": ["x", "z"]})";
  const Engine sized = at_sizes(read_engine(inside, "e"), {});
  EXPECT_EQ(kernels_of(sized).demands.at(1).work.macs, 4 * 16 * 8);
  std::string open = inside;
  for (auto at = open.find("[4,16]"); at != std::string::npos; at = open.find("[4,16]"))
    open.replace(at, 6, "[-1,16]");
  try {
    at_sizes(read_engine(open, "e"), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomplete);
    EXPECT_THAT(error.what(), HasSubstr("--batch"));
  }
  const Engine given = at_sizes(read_engine(open, "e"), {0, 6, {}});
  EXPECT_EQ(kernels_of(given).demands.at(1).work.macs, 6 * 16 * 8);
  EXPECT_THROW(at_sizes(read_engine(inside, "e"), {0, 6, {}}), Error) << "it runs with four";
  EXPECT_THROW(at_sizes(read_engine(inside, "e"), {1, {}, {}}), Error) << "no such profile";
}

TEST(TensorrtKernels, WeightsThatDoNotFitAreReported) {
  Engine engine = toy_engine();
  engine.layers[1].weights.count = 431;
  const Kernels kernels = kernels_of(engine);
  ASSERT_EQ(kernels.warnings.size(), 1u);
  EXPECT_THAT(kernels.warnings[0], HasSubstr("1 layer whose number of weights"));
}

}  // namespace
}  // namespace ridgeline::testing
