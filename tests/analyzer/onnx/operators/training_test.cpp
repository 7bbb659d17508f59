// Training graphs: losses, gradients, optimizers, and the operators that connect them.
// Optimizer cost per element comes from the table of weights.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(LossRule, OneNumberOrOnePerLabel) {
  const auto loss = [] {
    return OneNode("SoftmaxCrossEntropyLoss").input({4, 10, 3}).input({4, 3}, ElementType::int64);
  };
  EXPECT_EQ(loss().outputs(2).shapes(), "scalar, 4x10x3");
  EXPECT_EQ(loss().with("reduction", "none").shapes(), "4x3");
  EXPECT_TRUE(loss().op<Softmax>().log);
  EXPECT_NE(
      OneNode("SoftmaxCrossEntropyLoss").input({4, 10}).input({5}, ElementType::int64).error(),
      "no error");
  OneNode likelihood = OneNode("NegativeLogLikelihoodLoss").input({4, 10});
  EXPECT_EQ(likelihood.input({4}, ElementType::int64).work().bytes_read, 4 * 4 + 4 * 8);
}

TEST(OptimizerRule, StatesAreReadAndWritten) {
  OneNode adam = OneNode("Adam").domain("ai.onnx.preview.training").input({}).input({});
  for (int i = 0; i < 4; ++i) adam.input({10, 3});
  adam.outputs(3);
  EXPECT_EQ(adam.shapes(), "10x3, 10x3, 10x3");
  EXPECT_EQ(adam.op<Elementwise>().function, Function::adam);
  // 28 bytes per parameter: weight, gradient and two moments read, all but the gradient written.
  EXPECT_EQ(adam.work().bytes_read + adam.work().bytes_written, 28 * 30);
  OneNode momentum = OneNode("Momentum").domain("ai.onnx.preview.training").input({}).input({});
  for (int i = 0; i < 3; ++i) momentum.input({7});
  EXPECT_EQ(momentum.outputs(2).shapes(), "7, 7");
  EXPECT_NE(
      OneNode("Adam").domain("ai.onnx.preview.training").input({}).input({}).input({3}).error(),
      "no error");
}

TEST(OptimizerRule, Onnxruntime) {
  OneNode adam = OneNode::contrib("AdamOptimizer").input({}).input({}, ElementType::int64);
  for (int i = 0; i < 4; ++i) adam.input({10});
  EXPECT_EQ(adam.outputs(4).shapes(), "scalar int64, 10, 10, 10");
  EXPECT_EQ(OneNode::contrib("InPlaceAccumulatorV2").input({10}).input({10}).outputs(2).shapes(),
            "1 bool, 10");
  EXPECT_EQ(OneNode::contrib("ReduceAllL2").input({10}).input({4}).op<Reduce>().in_elements, 14);
}

TEST(GradientRule, LikeTheForwardPass) {
  EXPECT_EQ(OneNode::contrib("ReluGrad").input({2, 3}).input({2, 3}).shapes(), "2x3");
  EXPECT_EQ(OneNode::contrib("SoftmaxCrossEntropyLossGrad")
                .input({})
                .input({4, 10})
                .input({4}, ElementType::int64)
                .shapes(),
            "4x10");
  OneNode norm = OneNode::contrib("LayerNormalizationGrad").input({4, 8}).input({4, 8}).weight({8});
  EXPECT_EQ(norm.input({4, 1}).input({4, 1}).outputs(3).shapes(), "4x8, 8, 8");
  EXPECT_EQ(OneNode::contrib("GatherGrad")
                .integers({100, 8})
                .input({5}, ElementType::int64)
                .input({5, 8})
                .shapes(),
            "100x8");
}

TEST(GradientRule, ConvolutionsOnceForEachGradient) {
  OneNode node = OneNode::contrib("ConvGrad").input({2, 8, 6, 6}).input({2, 4, 8, 8});
  node.weight({8, 4, 3, 3});
  const double forward = 2. * 8 * 6 * 6 * 4 * 3 * 3;
  EXPECT_EQ(node.outputs(1).macs(), forward);
  EXPECT_EQ(node.outputs(3).macs(), 2 * forward);
  EXPECT_EQ(node.shapes(), "2x4x8x8, 8x4x3x3, 8");
}

TEST(TrainingGraphRule, AxesOfBroadcastGradients) {
  OnnxBuilder model;
  model.opset(14).opset(1, "com.microsoft").input("x", ElementType::fp32, {4, 5}).output("y");
  model.integers("a", {4, 5});
  model.integers("b", {5});
  model.node("BroadcastGradientArgs", {"a", "b"}, {"of_a", "of_b"}).domain("com.microsoft");
  model.node("ReduceSum", {"x", "of_b"}, {"y"}).attribute("keepdims", 0);
  const Graph graph = onnx::import_graph(onnx::ModelFile(model.bytes(), "model.onnx"), {}).graph;
  EXPECT_EQ(to_string(graph.tensors.at(graph.outputs.at(0)).shape), "5");
}

TEST(TrainingGraphRule, Plumbing) {
  EXPECT_EQ(OneNode::contrib("PassThrough").input({2}).input({3}).outputs(2).shapes(), "2, 3");
  EXPECT_EQ(OneNode::contrib("MixedPrecisionScale").input({}).input({3}).with("to", 10).shapes(),
            "3 fp16");
  EXPECT_EQ(OneNode::contrib("View").input({6}).integers({2, 3}).shapes(), "2x3");
}

}  // namespace
}  // namespace ridgeline::testing
