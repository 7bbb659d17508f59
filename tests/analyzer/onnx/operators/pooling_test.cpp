// Pools: window positions for every rounding and padding, taps, global reductions.
// Where implementations differ, onnxruntime's shapes are expected.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

OneNode pool(const char* op, const std::vector<std::int64_t>& data,
             const std::vector<std::int64_t>& kernel) {
  return OneNode(op).input(data).with("kernel_shape", kernel);
}

TEST(PoolingRule, RoundsDownUnlessAskedToRoundUp) {
  EXPECT_EQ(pool("MaxPool", {1, 3, 32, 32}, {5, 5}).with("strides", {3, 3}).shapes(), "1x3x10x10");
  EXPECT_EQ(pool("MaxPool", {1, 1, 4, 4}, {3, 3}).with("strides", {2, 2}).shapes(), "1x1x1x1");
  EXPECT_EQ(
      pool("MaxPool", {1, 1, 4, 4}, {3, 3}).with("strides", {2, 2}).with("ceil_mode", 1).shapes(),
      "1x1x2x2");
  // A window that would start beyond the input is dropped.
  EXPECT_EQ(
      pool("MaxPool", {1, 1, 2, 2}, {1, 1}).with("strides", {2, 2}).with("ceil_mode", 1).shapes(),
      "1x1x1x1");
  EXPECT_EQ(pool("AveragePool", {1, 1, 6}, {1}).with("strides", {3}).with("ceil_mode", 1).shapes(),
            "1x1x2");
}

TEST(PoolingRule, PadsAndDilates) {
  EXPECT_EQ(pool("MaxPool", {1, 64, 112, 112}, {3, 3})
                .with("strides", {2, 2})
                .with("pads", {1, 1, 1, 1})
                .shapes(),
            "1x64x56x56");
  EXPECT_EQ(pool("MaxPool", {1, 1, 8, 8}, {3, 3}).with("dilations", {2, 2}).shapes(), "1x1x4x4");
  EXPECT_EQ(pool("MaxPool", {1, 1, 5, 6}, {2, 2})
                .with("auto_pad", "SAME_LOWER")
                .with("strides", {2, 2})
                .shapes(),
            "1x1x3x3");
  EXPECT_EQ(pool("LpPool", {1, 1, 5, 6, 7}, {2, 2, 2}).shapes(), "1x1x4x5x6");
}

TEST(PoolingRule, CountsTaps) {
  OneNode node = pool("MaxPool", {2, 3, 8, 8}, {3, 3});
  node.outputs(2);
  EXPECT_EQ(node.shapes(), "2x3x6x6, 2x3x6x6 int64");
  const auto op = node.op<Pool>();
  EXPECT_EQ(op.kind, Pooling::max);
  EXPECT_EQ(op.taps, 9);
  EXPECT_EQ(op.out_elements, 216);
  EXPECT_EQ(total_flop(node.work()), 216 * 8);
  EXPECT_EQ(pool("AveragePool", {2, 3, 8, 8}, {3, 3}).op<Pool>().kind, Pooling::average);
}

TEST(PoolingRule, GlobalPoolsAreReductions) {
  OneNode node = OneNode("GlobalAveragePool").input({2, 2048, 7, 7});
  EXPECT_EQ(node.shapes(), "2x2048x1x1");
  EXPECT_EQ(node.op<Reduce>().kind, Reduction::mean);
  EXPECT_EQ(total_flop(node.work()), 2 * 2048 * 49);
  EXPECT_EQ(OneNode("GlobalMaxPool").input({2, 3, 4}).op<Reduce>().kind, Reduction::max);
  EXPECT_EQ(OneNode("GlobalLpPool").input({2, 3, 4}).op<Reduce>().kind, Reduction::l2);
  OneNode quantized = OneNode::contrib("QLinearGlobalAveragePool");
  quantized.input({2, 7, 7, 3}, ElementType::uint8).scale().zero_point().scale().zero_point();
  EXPECT_EQ(quantized.with("channels_last", 1).shapes(), "2x1x1x3 uint8");
}

TEST(PoolingRule, Unpooling) {
  OneNode node = OneNode("MaxUnpool").input({1, 1, 2, 2}).input({1, 1, 2, 2}, ElementType::int64);
  node.with("kernel_shape", {2, 2}).with("strides", {2, 2});
  EXPECT_EQ(node.shapes(), "1x1x4x4");
  EXPECT_EQ(node.integers({1, 1, 5, 5}).shapes(), "1x1x5x5");
}

TEST(PoolingRule, RegionsOfInterest) {
  OneNode node = OneNode("MaxRoiPool").input({1, 3, 14, 15}).input({9, 5});
  node.with("pooled_shape", {7, 7});
  EXPECT_EQ(node.shapes(), "9x3x7x7");
  EXPECT_EQ(node.op<Pool>().taps, 2 * 3);
}

TEST(PoolingRule, Refusals) {
  EXPECT_NE(OneNode("MaxPool").input({1, 1, 8}).error().find("kernel_shape is missing"),
            std::string::npos);
  EXPECT_NE(pool("MaxPool", {1, 1, 8}, {2, 2}).error().find("kernel_shape has 2 entries"),
            std::string::npos);
  EXPECT_NE(pool("MaxPool", {1, 1, 2}, {3}).error().find("a window of 3 does not fit into the 2"),
            std::string::npos);
}

}  // namespace
}  // namespace ridgeline::testing
