// Signals, random numbers and classical models: shapes and the Ops that stand for them.
// Lengths come from small constants; without these they are unknown.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/imported.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(SignalRule, FourierTransforms) {
  EXPECT_EQ(OneNode("DFT", 17).input({2, 10, 1}).with("onesided", 1).shapes(), "2x6x2");
  EXPECT_EQ(OneNode("DFT", 17).input({2, 10, 1}).integer(16).shapes(), "2x16x2");
  EXPECT_EQ(OneNode("DFT", 20).input({3, 10, 2}).left_out().integer(0).shapes(), "3x10x2");
  const OneNode last = OneNode("DFT", 20).input({3, 10, 1});
  EXPECT_EQ(last.op<FourierTransform>().length, 10);
  EXPECT_EQ(last.op<FourierTransform>().batch, 3);
  EXPECT_TRUE(last.op<FourierTransform>().real);
  EXPECT_EQ(OneNode("DFT", 20).input({3, 6, 2}).with("onesided", 1).with("inverse", 1).shapes(),
            "3x10x1");
  EXPECT_NE(OneNode("DFT", 20).input({3, 10, 2}).left_out().integer(-1).error(), "no error");

  OneNode stft = OneNode("STFT", 17).input({1, 16000, 1}).integer(160).weight({400});
  EXPECT_EQ(stft.shapes(), "1x98x201x2");
  EXPECT_EQ(stft.op<FourierTransform>(1).batch, 98);
  EXPECT_NE(OneNode("STFT", 17).input({1, 100, 1}).integer(10).left_out().integer(400).error(),
            "no error");
}

// One split with two leaves, and a chain of two splits: at most 1 + 2 comparisons per sample.
TEST(ClassicalRule, TreesCountTheirLongestPaths) {
  OneNode trees = OneNode("TreeEnsembleRegressor").domain("ai.onnx.ml").input({5, 4});
  trees.with("nodes_treeids", {0, 0, 0, 1, 1, 1, 1, 1})
      .with("nodes_nodeids", {0, 1, 2, 0, 1, 2, 3, 4});
  trees.with("nodes_truenodeids", {1, 0, 0, 1, 3, 0, 0, 0});
  trees.with("nodes_falsenodeids", {2, 0, 0, 2, 4, 0, 0, 0});
  trees.with("nodes_modes", std::vector<std::string>{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ",
                                                     "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"});
  trees.with("n_targets", 2);
  EXPECT_EQ(trees.shapes(), "5x2");
  EXPECT_EQ(trees.op<Elementwise>(0).elements, 5 * 3);
  EXPECT_EQ(trees.op<Elementwise>(1).elements, 5 * 2 * 2);

  OneNode circle = OneNode("TreeEnsembleRegressor").domain("ai.onnx.ml").input({5, 4});
  circle.with("nodes_treeids", {0, 0, 0}).with("nodes_nodeids", {0, 1, 2});
  circle.with("nodes_truenodeids", {1, 2, 1}).with("nodes_falsenodeids", {2, 2, 1});
  circle.with("nodes_modes", std::vector<std::string>(3, "BRANCH_LEQ"));
  EXPECT_NE(circle.error().find("cycle"), std::string::npos) << circle.error();
}

TEST(ClassicalRule, MachinesMultiplyWithTheirSupportVectors) {
  OneNode machine = OneNode("SVMRegressor").domain("ai.onnx.ml").input({5, 3});
  machine.with("support_vectors", {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}).with("kernel_type", "RBF");
  EXPECT_EQ(machine.shapes(), "5x1");
  EXPECT_EQ(machine.macs(), 5 * 2 * 3 + 5 * 2);
  EXPECT_EQ(machine.op<Elementwise>(1).function, Function::exp);
  OneNode wrong = OneNode("SVMRegressor").domain("ai.onnx.ml").input({5, 3});
  EXPECT_NE(wrong.with("support_vectors", {1.0, 2.0}).error(), "no error");
}

// The step is data; the file declares 98 frames of 201 bins.
TEST(SignalRule, FramesFollowFromTheDeclaredOutput) {
  OnnxBuilder model;
  model.opset(17)
      .input("x", ElementType::fp32, {1, 16000, 1})
      .input("step", ElementType::int64, {});
  model.initializer("window", ElementType::fp32, {400});
  model.node("STFT", {"x", "step", "window"}, {"y"}).name("stft");
  model.output("y", ValueType::tensor(ElementType::fp32, {1, 98, 201, 2}));
  const Graph graph = imported(model).graph;
  const auto& transform = std::get<FourierTransform>(layer_named(graph, "stft").parts.back().op);
  EXPECT_EQ(transform.batch, 98);
  EXPECT_EQ(transform.length, 400);
}

TEST(SignalRule, WindowsAndWeights) {
  EXPECT_EQ(OneNode("HannWindow", 17).integer(400).shapes(), "400");
  EXPECT_EQ(OneNode("BlackmanWindow", 17).integer(8).op<Elementwise>().elements, 16);
  EXPECT_EQ(OneNode("MelWeightMatrix", 17)
                .integer(80)
                .integer(400)
                .integer(16000)
                .floats({0})
                .floats({8000})
                .shapes(),
            "201x80");
}

TEST(SignalRule, ImagesAndMatrices) {
  EXPECT_EQ(OneNode("Col2Im", 18).input({1, 9, 4}).integers({4, 4}).integers({3, 3}).shapes(),
            "1x1x4x4");
  EXPECT_EQ(OneNode("Det").input({2, 3, 3}).shapes(), "2");
  EXPECT_EQ(OneNode::contrib("Inverse").input({2, 3, 3}).shapes(), "2x3x3");
  EXPECT_NE(OneNode("Det").input({2, 3, 4}).error(), "no error");
  EXPECT_EQ(OneNode::contrib("Rfft").input({3, 10}).shapes(), "3x6x2");
  EXPECT_EQ(OneNode::contrib("Irfft").input({3, 6, 2}).shapes(), "3x10");
}

TEST(RandomRule, IsNeverFolded) {
  const OneNode node = OneNode("RandomNormal").with("shape", {2, 3}).with("dtype", 10);
  EXPECT_EQ(node.shapes(), "2x3 fp16");
  EXPECT_EQ(node.layer().standing, Standing::counted);
  EXPECT_EQ(OneNode("RandomUniformLike").input({4}).shapes(), "4");
  EXPECT_EQ(OneNode("Bernoulli").input({4}).with("dtype", 9).shapes(), "4 bool");
}

TEST(ClassicalRule, AroundNetworks) {
  const auto node = [](std::string_view op) { return OneNode(op).domain("ai.onnx.ml"); };
  EXPECT_EQ(node("Scaler").input({4, 9}).shapes(), "4x9");
  EXPECT_EQ(node("Normalizer").input({4, 9}).shapes(), "4x9");
  EXPECT_EQ(
      node("LabelEncoder").input({4}, ElementType::int64).with("values_floats", {0.5}).shapes(),
      "4");
  EXPECT_EQ(node("FeatureVectorizer").input({4, 2}).input({4, 3}).shapes(), "4x5");
  OneNode classifier = node("LinearClassifier").input({4, 3});
  classifier.with("coefficients", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}).outputs(2);
  EXPECT_EQ(classifier.shapes(), "4 int64, 4x2");
  EXPECT_EQ(classifier.macs(), 4. * 2 * 3);
  EXPECT_EQ(node("ZipMap").input({4, 10}).error(), "no error");
}

TEST(TextRule, IsUnknownWithItsReason) {
  const Layer layer = OneNode("StringNormalizer").input({4}, ElementType::string).layer();
  EXPECT_NE(std::get<Unknown>(layer.parts.at(0).op).reason.find("text"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::testing
