// Attention in all its operators: heads, caches, packings, and which part of a cache or table
// moves.
// MACs of the attention itself are B·H·Sq·Skv·(d + dv); projections are separate products.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(AttentionRule, StandardForms) {
  const OneNode four = OneNode("Attention", 23)
                           .input({2, 9, 4, 8})
                           .input({2, 3, 6, 8})
                           .input({2, 3, 6, 10})
                           .with("is_causal", 1);
  EXPECT_EQ(four.shapes(), "2x9x4x10");
  EXPECT_EQ(four.macs(), 2. * 9 * 4 * 6 * (8 + 10));
  EXPECT_EQ(four.op<Attention>().kv_heads, 3);
  EXPECT_TRUE(four.op<Attention>().causal);

  OneNode three = OneNode("Attention", 23).input({2, 4, 24}).input({2, 6, 24}).input({2, 6, 30});
  EXPECT_EQ(three.with("q_num_heads", 3).with("kv_num_heads", 3).shapes(), "2x4x30");

  const OneNode past = OneNode("Attention", 23)
                           .input({2, 3, 4, 8})
                           .input({2, 3, 6, 8})
                           .input({2, 3, 6, 8})
                           .input({4, 18})
                           .input({2, 3, 12, 8})
                           .input({2, 3, 12, 8})
                           .outputs(4);
  EXPECT_EQ(past.shapes(), "2x3x4x8, 2x3x18x8, 2x3x18x8, 2x3x4x18");
  EXPECT_TRUE(past.op<Attention>().additive_mask);
  EXPECT_NE(
      OneNode("Attention", 23).input({2, 4, 4, 8}).input({2, 3, 6, 8}).input({2, 3, 6, 8}).error(),
      "no error");
}

TEST(AttentionRule, RotationReadsTheRowsOfItsTables) {
  const OneNode node = OneNode("RotaryEmbedding", 23)
                           .input({2, 4, 3, 8})
                           .weight({2048, 4})
                           .weight({2048, 4})
                           .input({2, 3}, ElementType::int64);
  EXPECT_EQ(node.shapes(), "2x4x3x8");
  EXPECT_EQ(node.op<Elementwise>().function, Function::rotary_embedding);
  EXPECT_EQ(node.op<Elementwise>().elements, 192);
  EXPECT_EQ(node.work().weight_bytes_read, 2. * 6 * 4 * 4);
  EXPECT_EQ(OneNode::contrib("RotaryEmbedding")
                .input({2, 3, 32})
                .input({2, 3}, ElementType::int64)
                .weight({2048, 2})
                .weight({2048, 2})
                .with("num_heads", 4)
                .with("rotary_embedding_dim", 4)
                .op<Elementwise>()
                .elements,
            2 * 3 * 4 * 4);
}

TEST(AttentionRule, ProjectedInside) {
  OneNode node = OneNode::contrib("Attention").input({2, 5, 16}).weight({16, 96}).weight({96});
  node.with("num_heads", 4).with("unidirectional", 1);
  EXPECT_EQ(node.shapes(), "2x5x32");
  EXPECT_EQ(node.macs(), 10. * 16 * 96 + 2. * 4 * 5 * 5 * (8 + 8));
  EXPECT_TRUE(node.op<MatMul>(0).bias);
  EXPECT_TRUE(node.op<Attention>(1).causal);

  OneNode uneven = OneNode::contrib("Attention").input({2, 5, 16}).weight({16, 80});
  uneven.with("num_heads", 4).with("qkv_hidden_sizes", {32, 32, 16});
  EXPECT_EQ(uneven.shapes(), "2x5x16");
  EXPECT_EQ(uneven.op<Attention>(1).v_dimension, 4);

  OneNode past = OneNode::contrib("Attention").input({2, 1, 16}).weight({16, 96}).left_out();
  past.left_out().input({2, 2, 4, 7, 8}).with("num_heads", 4).outputs(2);
  EXPECT_EQ(past.shapes(), "2x1x32, 2x2x4x8x8");
  EXPECT_EQ(past.op<Attention>(1).kv_length, 8);
  EXPECT_NE(OneNode::contrib("Attention").input({2, 5, 16}).weight({16, 96}).error(), "no error");
}

TEST(AttentionRule, QuantizedProjection) {
  const OneNode node = OneNode::contrib("QAttention")
                           .input({2, 5, 16}, ElementType::uint8)
                           .weight({16, 96}, ElementType::int8)
                           .weight({96})
                           .scale()
                           .scale()
                           .with("num_heads", 4);
  EXPECT_EQ(node.shapes(), "2x5x32");
  EXPECT_EQ(node.layer().parts.at(0).dtype, DType::int8);
  EXPECT_EQ(node.layer().parts.at(1).dtype, DType::fp32);
}

TEST(AttentionRule, MultiHeadPackings) {
  const auto attention = [](OneNode node) { return node.with("num_heads", 4).op<Attention>(); };
  const auto node = [] { return OneNode::contrib("MultiHeadAttention"); };
  EXPECT_EQ(attention(node().input({2, 5, 32}).input({2, 7, 32}).input({2, 7, 48})).v_dimension,
            12);
  EXPECT_EQ(attention(node().input({2, 5, 4, 3, 8})).kv_length, 5);
  EXPECT_EQ(attention(node().input({2, 5, 32}).input({2, 7, 4, 2, 8})).kv_length, 7);
  EXPECT_EQ(attention(node().input({2, 5, 32}).input({2, 4, 9, 8}).input({2, 4, 9, 8})).kv_length,
            9);
  OneNode past = node().input({2, 1, 32}).input({2, 1, 32}).input({2, 1, 32}).left_out();
  past.left_out().left_out().input({2, 4, 7, 8}).input({2, 4, 7, 8}).with("num_heads", 4);
  EXPECT_EQ(past.outputs(3).shapes(), "2x1x32, 2x4x8x8, 2x4x8x8");
  EXPECT_NE(
      node().input({2, 5, 30}).input({2, 7, 30}).input({2, 7, 30}).with("num_heads", 4).error(),
      "no error");
}

TEST(AttentionRule, GroupedHeadsAndCaches) {
  const auto node = [](std::int64_t past, std::int64_t total) {
    OneNode made = OneNode::contrib("GroupQueryAttention").input({1, 1, 64}, ElementType::fp16);
    made.input({1, 1, 16}, ElementType::fp16).input({1, 1, 16}, ElementType::fp16);
    made.input({1, 2, past, 8}, ElementType::fp16).input({1, 2, past, 8}, ElementType::fp16);
    made.input({1}, ElementType::int32).integers({total});
    return made.with("num_heads", 8).with("kv_num_heads", 2).outputs(3);
  };
  // A full cache grows; a buffer with room is written in place.
  EXPECT_EQ(node(9, 10).shapes(), "1x1x64 fp16, 1x2x10x8 fp16, 1x2x10x8 fp16");
  EXPECT_EQ(node(4096, 10).shapes(), "1x1x64 fp16, 1x2x4096x8 fp16, 1x2x4096x8 fp16");
  EXPECT_EQ(node(4096, 10).op<Attention>().kv_length, 10);
  const Work in_place = node(4096, 10).work();
  EXPECT_EQ(in_place.bytes_read, 2. * (64 + 2 * 16 + 2 * 2 * 9 * 8));
  EXPECT_EQ(in_place.bytes_written, 2. * (64 + 2 * 2 * 1 * 8));
  OneNode packed = OneNode::contrib("GroupQueryAttention").input({2, 5, 96});
  packed.left_out().left_out().left_out().left_out().input({2}, ElementType::int32).integers({5});
  packed.with("num_heads", 8).with("kv_num_heads", 2).outputs(3);
  EXPECT_EQ(packed.shapes(), "2x5x64, 2x2x5x8, 2x2x5x8");
}

TEST(AttentionRule, LinearAttentionKeepsAState) {
  OneNode node = OneNode("LinearAttention", 27).input({2, 5, 24}).input({2, 5, 12});
  node.input({2, 5, 8}).with("q_num_heads", 4).with("kv_num_heads", 2);
  node.with("update_rule", "linear").outputs(2);
  EXPECT_EQ(node.shapes(), "2x5x16, 2x2x6x4");
  EXPECT_EQ(node.macs(), 2. * 2 * 6 * 4 * 5 + 2. * 4 * 5 * 4 * 6);
}

TEST(EmbeddingRule, ReadsTheRowsOfItsTables) {
  const OneNode node = OneNode::contrib("EmbedLayerNormalization")
                           .input({2, 6}, ElementType::int32)
                           .input({2, 6}, ElementType::int32)
                           .weight({30000, 16})
                           .weight({512, 16})
                           .weight({2, 16})
                           .weight({16})
                           .weight({16})
                           .outputs(2);
  EXPECT_EQ(node.shapes(), "2x6x16, 2 int32");
  // 12 words, 6 positions, 2 segments, scale and shift.
  EXPECT_EQ(node.work().weight_bytes_read, 4. * 16 * (12 + 6 + 2 + 2));
}

TEST(EmbeddingRule, PositionBiases) {
  EXPECT_EQ(
      OneNode::contrib("RelativePositionBias").weight({32, 8}).integers({5}).integers({7}).shapes(),
      "1x8x5x7");
}

TEST(ExpertsRule, OnlyChosenExpertsWorkAndAreRead) {
  OneNode node = OneNode::contrib("MoE").input({3, 8}).input({3, 16}).weight({16, 32, 8});
  node.left_out().weight({16, 8, 32}).with("k", 2).with("activation_type", "silu");
  EXPECT_EQ(node.shapes(), "3x8");
  EXPECT_EQ(node.macs(), 6. * 32 * 8 * 2);
  EXPECT_EQ(node.work().weight_bytes_read, 4. * 6 * 2 * 32 * 8);
  EXPECT_NE(OneNode::contrib("MoE")
                .input({3, 8})
                .input({3, 16})
                .weight({16, 32, 8})
                .left_out()
                .weight({16, 8, 32})
                .with("k", 17)
                .error(),
            "no error");
}

}  // namespace
}  // namespace ridgeline::testing
