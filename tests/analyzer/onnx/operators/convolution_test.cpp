// Convolutions: output shapes, the fields of the Op, MACs, precise refusals.
// Expected values are computed by hand from the operators' definitions.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

OneNode conv(const std::vector<std::int64_t>& data, const std::vector<std::int64_t>& weights) {
  return OneNode("Conv").input(data).weight(weights);
}

TEST(ConvolutionRule, FirstLayerOfResNet) {
  OneNode node = conv({1, 3, 224, 224}, {64, 3, 7, 7});
  node.with("strides", {2, 2}).with("pads", {3, 3, 3, 3});
  EXPECT_EQ(node.shapes(), "1x64x112x112");
  EXPECT_EQ(node.macs(), 118013952);
  const auto op = node.op<Convolution>();
  EXPECT_EQ(op.in_channels, 3);
  EXPECT_EQ(op.out_channels, 64);
  EXPECT_EQ(op.kernel, (Shape{7, 7}));
  EXPECT_EQ(op.in_spatial, (Shape{224, 224}));
  EXPECT_EQ(op.out_spatial, (Shape{112, 112}));
  EXPECT_FALSE(op.bias);
}

TEST(ConvolutionRule, GroupsDilationsAndBias) {
  OneNode node = conv({2, 8, 10, 9}, {16, 2, 3, 2}).weight({16});
  node.with("group", 4).with("dilations", {2, 3}).with("strides", {1, 2});
  EXPECT_EQ(node.shapes(), "2x16x6x3");
  EXPECT_EQ(node.macs(), 2 * 16 * 6 * 3 * 2 * 3 * 2);
  EXPECT_TRUE(node.op<Convolution>().bias);
  EXPECT_EQ(node.op<Convolution>().groups, 4);
  EXPECT_EQ(total_flop(node.work()), 2 * node.macs() + 2 * 16 * 6 * 3);
}

TEST(ConvolutionRule, OneAndThreeSpatialAxes) {
  EXPECT_EQ(conv({1, 4, 10}, {5, 4, 3}).shapes(), "1x5x8");
  EXPECT_EQ(conv({1, 4, 6, 7, 8}, {5, 4, 3, 3, 3}).shapes(), "1x5x4x5x6");
}

TEST(ConvolutionRule, AutomaticPadding) {
  for (const char* same : {"SAME_UPPER", "SAME_LOWER"})
    EXPECT_EQ(
        conv({1, 1, 7, 8}, {1, 1, 3, 3}).with("auto_pad", same).with("strides", {2, 3}).shapes(),
        "1x1x4x3");
  EXPECT_EQ(conv({1, 1, 7, 8}, {1, 1, 3, 3}).with("auto_pad", "VALID").shapes(), "1x1x5x6");
  // Some files also have pads; auto_pad overrides them.
  EXPECT_EQ(conv({1, 1, 7, 8}, {1, 1, 3, 3})
                .with("auto_pad", "SAME_UPPER")
                .with("pads", {0, 0, 0, 0})
                .shapes(),
            "1x1x7x8");
  EXPECT_NE(conv({1, 1, 7}, {1, 1, 3}).with("auto_pad", "SAME").error().find("auto_pad 'SAME'"),
            std::string::npos);
}

TEST(ConvolutionRule, TransposedCountsInputPositions) {
  const auto node = [](std::vector<std::int64_t> data, std::vector<std::int64_t> weights) {
    return OneNode("ConvTranspose").input(data).weight(weights);
  };
  OneNode plain = node({1, 1, 3, 3}, {1, 2, 3, 3});
  EXPECT_EQ(plain.shapes(), "1x2x5x5");
  EXPECT_EQ(plain.macs(), 162);
  EXPECT_TRUE(plain.op<Convolution>().transposed);
  EXPECT_EQ(node({1, 1, 3, 3}, {1, 2, 3, 3})
                .with("strides", {3, 2})
                .with("output_padding", {1, 1})
                .shapes(),
            "1x2x10x8");
  EXPECT_EQ(node({1, 1, 3, 3}, {1, 2, 3, 3})
                .with("strides", {3, 2})
                .with("output_shape", {10, 8})
                .shapes(),
            "1x2x10x8");
  EXPECT_EQ(node({1, 1, 3, 3}, {1, 2, 3, 3})
                .with("strides", {2, 2})
                .with("auto_pad", "SAME_UPPER")
                .shapes(),
            "1x2x6x6");
  EXPECT_EQ(node({1, 1, 3, 3}, {1, 1, 2, 2}).with("dilations", {2, 2}).shapes(), "1x1x5x5");
  OneNode grouped = node({1, 4, 3}, {4, 3, 2});
  grouped.with("group", 2);
  EXPECT_EQ(grouped.shapes(), "1x6x4");
  EXPECT_EQ(grouped.macs(), 4 * 3 * 3 * 2);
}

TEST(ConvolutionRule, IntegersComputeInInt8) {
  OneNode integer = OneNode("ConvInteger").input({1, 2, 5, 5}, ElementType::uint8);
  integer.weight({3, 2, 3, 3}, ElementType::int8).zero_point();
  EXPECT_EQ(integer.shapes(), "1x3x3x3 int32");
  EXPECT_EQ(integer.layer().parts[0].dtype, DType::int8);
  OneNode linear = OneNode("QLinearConv").input({1, 2, 5, 5}, ElementType::uint8);
  linear.scale().zero_point().weight({3, 2, 3, 3}, ElementType::int8).scale();
  linear.zero_point(ElementType::int8).scale().zero_point().weight({3}, ElementType::int32);
  EXPECT_EQ(linear.shapes(), "1x3x3x3 uint8");
  EXPECT_EQ(linear.macs(), 3 * 9 * 2 * 9);
  EXPECT_EQ(total_flop(linear.work()), 0);
}

TEST(ConvolutionRule, DeformableHasOffsetsForEveryTap) {
  const auto node = [](std::int64_t channels) {
    return OneNode("DeformConv")
        .input({1, 2, 4, 4})
        .weight({3, 2, 2, 2})
        .input({1, channels, 3, 3})
        .left_out()
        .input({1, 4, 3, 3});
  };
  EXPECT_EQ(node(8).shapes(), "1x3x3x3");
  EXPECT_TRUE(node(8).op<Convolution>().deformable);
  EXPECT_NE(node(6).error().find("1x6x3x3"), std::string::npos);
}

TEST(ConvolutionRule, FusedAndChannelsLast) {
  OneNode fused = OneNode::contrib("FusedConv").input({1, 3, 8, 8}).weight({4, 3, 3, 3});
  fused.weight({4}).input({1, 4, 6, 6}).with("activation", "Relu");
  EXPECT_EQ(fused.shapes(), "1x4x6x6");
  EXPECT_EQ(fused.layer().parts.size(), 3u);
  EXPECT_EQ(fused.op<Elementwise>(1).function, Function::add);
  EXPECT_EQ(fused.op<Elementwise>(2).function, Function::relu);
  OneNode last = OneNode::contrib("NhwcConv").input({1, 8, 9, 3}).weight({4, 3, 3, 3});
  EXPECT_EQ(last.shapes(), "1x6x7x4");
  EXPECT_EQ(last.macs(), 6 * 7 * 4 * 27);
  // Weights as output × height × width × input, and as output × input × height × width.
  for (const std::vector<std::int64_t>& weights :
       {std::vector<std::int64_t>{4, 3, 2, 5}, std::vector<std::int64_t>{4, 5, 3, 2}}) {
    OneNode node = OneNode::contrib("NhwcConv").input({1, 8, 9, 5}).weight(weights);
    EXPECT_EQ(node.shapes(), "1x6x8x4");
    EXPECT_EQ(node.macs(), 6 * 8 * 4 * 30);
  }
  OneNode depthwise = OneNode::contrib("NhwcConv").input({1, 8, 8, 6}).weight({6, 3, 3, 1});
  depthwise.with("group", 6);
  EXPECT_EQ(depthwise.shapes(), "1x6x6x6");
  EXPECT_EQ(depthwise.macs(), 6 * 6 * 6 * 9);
}

TEST(ConvolutionRule, CausalKeepsAState) {
  OneNode node = OneNode("CausalConvWithState", 27).input({2, 8, 5}).weight({8, 1, 4}).outputs(2);
  node.with("activation", "silu");
  EXPECT_EQ(node.shapes(), "2x8x5, 2x8x3");
  EXPECT_EQ(node.macs(), 2 * 8 * 5 * 4);
  EXPECT_EQ(node.op<Elementwise>(1).function, Function::swish);
}

TEST(ConvolutionRule, RefusalsNameTheNumbers) {
  struct Refusal {
    OneNode node;
    std::string cause;
  };
  const Refusal refusals[] = {
      {conv({1, 4, 224, 224}, {64, 3, 7, 7}),
       "weights 64x3x7x7 in 1 group want 3 input channels, the input 1x4x224x224 has 4"},
      {conv({1, 4, 8, 8}, {6, 2, 3, 3}).with("group", 0), "group is 0"},
      {conv({1, 8, 8, 8}, {6, 2, 3, 3}).with("group", 4), "cannot be divided into 4"},
      {conv({1, 4, 2, 8}, {6, 4, 3, 3}), "a window of 3 does not fit into the 2 of spatial axis 0"},
      {conv({1, 4, 8, 8}, {6, 4, 3}), "does not have 4 dimensions"},
      {conv({1, 4}, {6, 4}), "fewer than 3 dimensions"},
      {conv({1, 4, 8}, {6, 4, 3}).with("strides", {0}), "strides has an entry 0"},
      {conv({1, 4, 8}, {6, 4, 3}).with("strides", {1, 1}), "strides has 2 entries"},
      {conv({1, 4, 8}, {6, 4, 3}).with("kernel_shape", {5}), "kernel_shape 5 does not agree"},
      {conv({1, 4, 8}, {6, 4, 3}).weight({5}), "is not a vector for 6 output channels"},
  };
  for (const Refusal& refusal : refusals)
    EXPECT_NE(refusal.node.error().find(refusal.cause), std::string::npos)
        << refusal.node.error() << " should say: " << refusal.cause;
}

}  // namespace
}  // namespace ridgeline::testing
