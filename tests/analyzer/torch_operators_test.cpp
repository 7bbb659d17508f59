// Calls of torch behind the nodes of an exported file, and the nodes that onnxruntime keeps apart.
#include "analyzer/fusion/torch_operators.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/lowering/lowering.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

std::size_t launches(const OnnxBuilder& model, Runtime runtime) {
  std::size_t count = 0;
  for (const Demand& demand : lower(imported(model).graph, runtime))
    count += static_cast<std::size_t>(demand.launches);
  return count;
}

void number(OnnxBuilder& model, const std::string& name, double value) {
  model.initializer(name, ElementType::fp32, {}).floats({value});
}

// addmm, gelu.
TEST(TorchOperators, ALinearLayerAndItsActivationAreTwoCalls) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {2, 8, 16}).output("y");
  model.initializer("w", ElementType::fp32, {16, 32});
  model.initializer("b", ElementType::fp32, {32});
  number(model, "root", 1.41421354);
  number(model, "one", 1);
  number(model, "half", 0.5);
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Add", {"b", "p"}, {"h"});
  model.node("Div", {"h", "root"}, {"d"});
  model.node("Erf", {"d"}, {"e"});
  model.node("Add", {"e", "one"}, {"a"});
  model.node("Mul", {"h", "a"}, {"m"});
  model.node("Mul", {"m", "half"}, {"y"});
  EXPECT_EQ(launches(model, Runtime::torch_eager), 2u);
  EXPECT_EQ(launches(model, Runtime::cuda_graph), 2u);
  EXPECT_EQ(launches(model, Runtime::torch_compiled), 2u);
}

// Exporters scale query and keys by the root of the scale; the heads are joined without a copy.
OnnxBuilder attention(bool scales_operands) {
  OnnxBuilder model;
  model.opset(17).output("y");
  for (const char* name : {"q", "k", "v"}) model.input(name, ElementType::fp32, {1, 8, 4, 16});
  number(model, "s", 0.5);
  for (const std::string name : {"q", "k", "v"})
    model.node("Transpose", {name}, {name + "t"})
        .attribute("perm", name == "k" ? std::vector<std::int64_t>{0, 2, 3, 1}
                                       : std::vector<std::int64_t>{0, 2, 1, 3});
  std::string q = "qt", k = "kt", scores = "p";
  if (scales_operands) {
    model.node("Mul", {"qt", "s"}, {"qs"});
    model.node("Mul", {"kt", "s"}, {"ks"});
    q = "qs";
    k = "ks";
  }
  model.node("MatMul", {q, k}, {"p"});
  if (!scales_operands) {
    model.node("Mul", {"p", "s"}, {"ps"});
    scores = "ps";
  }
  model.node("Softmax", {scores}, {"w"}).attribute("axis", -1);
  model.node("MatMul", {"w", "vt"}, {"o"});
  model.node("Transpose", {"o"}, {"ot"}).attribute("perm", {0, 2, 1, 3});
  model.initializer("shape", ElementType::int64, {3}).ints({1, 8, 64});
  model.node("Reshape", {"ot", "shape"}, {"y"});
  return model;
}

TEST(TorchOperators, ScaledDotProductAttentionIsOneCall) {
  EXPECT_EQ(launches(attention(true), Runtime::torch_eager), 1u);
  EXPECT_EQ(launches(attention(true), Runtime::torch_compiled), 1u);
}

// Product, scale, softmax, product, and the copy that joins the heads.
// torch's dynamo exporter transposes the keys between two reshapes, and replaces rows that are
// masked whole.
TEST(TorchOperators, AttentionOfTheDynamoExporterIsOneCall) {
  OnnxBuilder model;
  model.opset(18).output("y");
  for (const char* name : {"q", "k", "v"}) model.input(name, ElementType::fp32, {1, 8, 4, 16});
  number(model, "s", 0.5);
  number(model, "zero", 0);
  model.initializer("mask", ElementType::fp32, {1, 1, 8, 8});
  model.initializer("flat", ElementType::int64, {3}).ints({-1, 8, 16});
  model.initializer("whole", ElementType::int64, {4}).ints({1, 4, 16, 8});
  model.initializer("rows", ElementType::int64, {3}).ints({1, 8, 64});
  const std::vector<std::int64_t> heads{0, 2, 1, 3};
  for (const std::string name : {"q", "k", "v"})
    model.node("Transpose", {name}, {name + "t"}).attribute("perm", heads);
  model.node("Reshape", {"kt", "flat"}, {"kf"});
  model.node("Transpose", {"kf"}, {"kft"}).attribute("perm", std::vector<std::int64_t>{0, 2, 1});
  model.node("Reshape", {"kft", "whole"}, {"kw"});
  model.node("Mul", {"qt", "s"}, {"qs"});
  model.node("Mul", {"kw", "s"}, {"ks"});
  model.node("MatMul", {"qs", "ks"}, {"p"});
  model.node("Add", {"p", "mask"}, {"masked"});
  model.node("Softmax", {"masked"}, {"a"}).attribute("axis", -1);
  model.node("IsNaN", {"a"}, {"n"});
  model.node("Where", {"n", "zero", "a"}, {"clean"});
  model.node("MatMul", {"clean", "vt"}, {"o"});
  model.node("Transpose", {"o"}, {"ot"}).attribute("perm", heads);
  model.node("Reshape", {"ot", "rows"}, {"y"});
  EXPECT_EQ(launches(model, Runtime::torch_eager), 1u);
  EXPECT_EQ(launches(model, Runtime::torch_compiled), 1u);
}

TEST(TorchOperators, AttentionThatWasWrittenOutStaysAsItIs) {
  EXPECT_EQ(launches(attention(false), Runtime::torch_eager), 5u);
}

TEST(TorchOperators, SiluAndRsqrtAreOneCallEach) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {2, 8}).output("y").output("z");
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Mul", {"x", "s"}, {"y"});
  model.node("Sqrt", {"x"}, {"r"});
  model.node("Reciprocal", {"r"}, {"z"});
  EXPECT_EQ(launches(model, Runtime::torch_eager), 2u);
}

// As in the graph that onnxruntime 1.31.1 writes.
TEST(OnnxruntimeNodes, PReluAndTransposedConvolutionsStayAlone) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 4, 8, 8}).output("y");
  model.initializer("w", ElementType::fp32, {4, 4, 1, 1});
  model.initializer("slope", ElementType::fp32, {4, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("PRelu", {"c", "slope"}, {"p"});
  model.node("ConvTranspose", {"p", "w"}, {"t"});
  model.node("Add", {"t", "x"}, {"a"});
  model.node("Relu", {"a"}, {"y"});
  EXPECT_EQ(lower(imported(model).graph, Runtime::onnxruntime).size(), 5u);
}

// LayerScale after a convolution goes into its weights; the residual sum does not.
TEST(OnnxruntimeNodes, AScalePerChannelIsFoldedIntoTheConvolution) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 6, 6}).output("y");
  model.initializer("w", ElementType::fp32, {8, 8, 1, 1});
  model.initializer("scale", ElementType::fp32, {8, 1, 1});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("Mul", {"scale", "c"}, {"s"});
  model.node("Add", {"x", "s"}, {"y"});
  EXPECT_EQ(launches(model, Runtime::onnxruntime), 2u);
}

TEST(OnnxruntimeNodes, SlicesThatCoverATensorAreOneSplit) {
  const auto halves = [](std::int64_t end_of_first) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, 8, 6}).output("y").output("z");
    model.initializer("axis", ElementType::int64, {1}).ints({1});
    model.initializer("zero", ElementType::int64, {1}).ints({0});
    model.initializer("middle", ElementType::int64, {1}).ints({4});
    model.initializer("end", ElementType::int64, {1}).ints({end_of_first});
    model.initializer("last", ElementType::int64, {1}).ints({8});
    model.node("Slice", {"x", "zero", "end", "axis"}, {"a"});
    model.node("Slice", {"x", "middle", "last", "axis"}, {"b"});
    model.node("Erf", {"a"}, {"y"});
    model.node("Erf", {"b"}, {"z"});
    return model;
  };
  EXPECT_EQ(launches(halves(4), Runtime::onnxruntime), 3u);
  EXPECT_EQ(launches(halves(3), Runtime::onnxruntime), 4u);
  double bytes = 0;
  for (const Demand& demand : lower(imported(halves(4)).graph, Runtime::onnxruntime))
    bytes += total_bytes(demand.work);
  EXPECT_EQ(bytes, 4 * 48 * 4);  // twice read, twice written
}

TEST(OnnxruntimeNodes, AnRmsNormByReciprocalIsNotOneNode) {
  for (const bool divides : {true, false}) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {2, 8, 16}).output("y");
    model.initializer("w", ElementType::fp32, {16});
    number(model, "two", 2);
    number(model, "epsilon", 1e-6);
    model.node("Pow", {"x", "two"}, {"p"});
    model.node("ReduceMean", {"p"}, {"m"}).attribute("axes", {-1});
    model.node("Add", {"m", "epsilon"}, {"a"});
    model.node("Sqrt", {"a"}, {"r"});
    if (divides) {
      model.node("Div", {"x", "r"}, {"n"});
    } else {
      model.node("Reciprocal", {"r"}, {"i"});
      model.node("Mul", {"x", "i"}, {"n"});
    }
    model.node("Mul", {"n", "w"}, {"y"});
    EXPECT_EQ(lower(imported(model).graph, Runtime::onnxruntime).size(), divides ? 1u : 7u);
  }
}

// The split that two slices become is named for both.
TEST(OnnxruntimeNodes, ASplitKeepsTheNamesOfItsSlices) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 6}).output("y").output("z");
  const auto constant = [&](const char* name, std::int64_t value) {
    model.initializer(name, ElementType::int64, {1}).ints({value});
  };
  constant("zero", 0);
  constant("axis", 1);
  constant("middle", 4);
  constant("last", 8);
  model.node("Slice", {"x", "zero", "middle", "axis"}, {"a"}).name("first half");
  model.node("Slice", {"x", "middle", "last", "axis"}, {"b"}).name("second half");
  model.node("Erf", {"a"}, {"y"});
  model.node("Erf", {"b"}, {"z"});
  const auto demands = lower(imported(model).graph, Runtime::onnxruntime);
  ASSERT_FALSE(demands.empty());
  EXPECT_EQ(demands[0].source_layers, (std::vector<std::string>{"first half", "second half"}));
}

}  // namespace
}  // namespace ridgeline::testing
