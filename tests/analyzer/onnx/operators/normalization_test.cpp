// Normalisations: outputs of every opset, rows of statistics, parts of fused forms.
// FLOP per element are tested with the table of weights.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

OneNode batch_norm(std::int64_t opset, std::int64_t channels) {
  OneNode node("BatchNormalization", opset);
  node.input({2, 3, 4, 5});
  for (int i = 0; i < 4; ++i) node.weight({channels});
  return node;
}

TEST(NormalizationRule, BatchNormEvaluates) {
  const OneNode node = batch_norm(9, 3);
  EXPECT_EQ(node.shapes(), "2x3x4x5");
  EXPECT_FALSE(node.op<Normalize>().training);
  EXPECT_EQ(node.op<Normalize>().elements, 120);
  EXPECT_NE(batch_norm(9, 4).error().find("'input1' 4 should have one element for each of the 3"),
            std::string::npos);
}

TEST(NormalizationRule, BatchNormTrains) {
  OneNode modern = batch_norm(15, 3);
  modern.with("training_mode", 1).outputs(3);
  EXPECT_EQ(modern.shapes(), "2x3x4x5, 3, 3");
  EXPECT_TRUE(modern.op<Normalize>().training);
  EXPECT_EQ(modern.op<Normalize>().rows, 3);
  OneNode old = batch_norm(7, 3);
  EXPECT_TRUE(old.outputs(5).op<Normalize>().training);
  EXPECT_EQ(old.shapes(), "2x3x4x5, 3, 3, 3, 3");
}

TEST(NormalizationRule, BatchNormOfEveryPosition) {
  OneNode node("BatchNormalization", 7);
  node.input({2, 3, 4});
  for (int i = 0; i < 4; ++i) node.weight({3, 4});
  EXPECT_EQ(node.with("spatial", 0).shapes(), "2x3x4");
  EXPECT_NE(node.error().find("no error"), std::string::npos);
}

TEST(NormalizationRule, RowsOfStatistics) {
  OneNode layer = OneNode("LayerNormalization").input({2, 7, 16}).weight({16}).weight({16});
  layer.outputs(3);
  EXPECT_EQ(layer.shapes(), "2x7x16, 2x7x1, 2x7x1");
  EXPECT_EQ(layer.op<Normalize>().rows, 14);
  OneNode deep = OneNode("LayerNormalization").input({2, 7, 16}).weight({7, 16}).outputs(2);
  EXPECT_EQ(deep.with("axis", 1).shapes(), "2x7x16, 2x1x1");
  EXPECT_EQ(deep.op<Normalize>().rows, 2);
  EXPECT_NE(OneNode("LayerNormalization")
                .input({2, 16})
                .weight({8})
                .error()
                .find("'input1' 8 does not broadcast into 2x16"),
            std::string::npos);

  OneNode instance = OneNode("InstanceNormalization").input({2, 3, 4, 5}).weight({3}).weight({3});
  EXPECT_EQ(instance.op<Normalize>().rows, 6);
  OneNode group = OneNode("GroupNormalization", 21).input({2, 6, 4}).weight({6}).weight({6});
  EXPECT_EQ(group.with("num_groups", 3).op<Normalize>().rows, 6);
  OneNode of_groups = OneNode("GroupNormalization", 18).input({2, 6, 4}).weight({3}).weight({3});
  EXPECT_EQ(of_groups.with("num_groups", 3).shapes(), "2x6x4");
  EXPECT_EQ(OneNode("RMSNormalization", 23).input({2, 7, 16}).weight({16}).op<Normalize>().kind,
            Normalization::rms);
  EXPECT_EQ(OneNode("LpNormalization").input({2, 7, 16}).with("axis", 1).op<Normalize>().rows, 32);
  EXPECT_EQ(OneNode("MeanVarianceNormalization").input({2, 3, 4, 5}).op<Normalize>().rows, 3);
  EXPECT_EQ(OneNode("LRN").input({1, 64, 8, 8}).with("size", 5).op<Normalize>().window, 5);
}

TEST(NormalizationRule, SkipLayerNormIsItsParts) {
  OneNode node = OneNode::contrib("SkipLayerNormalization").input({2, 7, 16}).input({7, 16});
  node.weight({16}).weight({16}).weight({16}).outputs(4);
  EXPECT_EQ(node.shapes(), "2x7x16, 2x7x1, 2x7x1, 2x7x16");
  EXPECT_EQ(node.layer().parts.size(), 3u);
  EXPECT_EQ(node.op<Elementwise>(0).function, Function::add);
  EXPECT_EQ(node.op<Normalize>(2).kind, Normalization::layer);
  OneNode simple = OneNode::contrib("SkipSimplifiedLayerNormalization");
  simple.input({2, 7, 16}).input({2, 7, 16}).weight({16});
  EXPECT_EQ(simple.op<Normalize>(1).kind, Normalization::rms);
}

TEST(NormalizationRule, GroupNormOfDiffusionHasChannelsLast) {
  OneNode node = OneNode::contrib("GroupNorm").input({2, 8, 8, 32}).weight({32}).weight({32});
  node.with("groups", 4).with("activation", 1);
  EXPECT_EQ(node.shapes(), "2x8x8x32");
  EXPECT_EQ(node.op<Normalize>(0).rows, 8);
  EXPECT_EQ(node.op<Elementwise>(1).function, Function::swish);
}

}  // namespace
}  // namespace ridgeline::testing
