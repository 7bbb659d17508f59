// Matrix products: shapes, m, n, k and batch, scalings, packed weights, integers.
// If the batch shares the right operand, it is part of m.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

struct Product {
  std::vector<std::int64_t> a, b;
  std::string shape;
  std::int64_t batch, m, n, k;
};

TEST(MatMulRule, BroadcastsAndFoldsTheBatch) {
  const Product products[] = {
      {{3, 4}, {4, 5}, "3x5", 1, 3, 5, 4},
      {{2, 3, 4}, {4, 5}, "2x3x5", 1, 6, 5, 4},
      {{2, 3, 4}, {1, 4, 5}, "2x3x5", 1, 6, 5, 4},
      {{3, 4}, {2, 4, 5}, "2x3x5", 2, 3, 5, 4},
      {{12, 128, 64}, {12, 64, 128}, "12x128x128", 12, 128, 128, 64},
      {{2, 1, 3, 4}, {6, 4, 5}, "2x6x3x5", 12, 3, 5, 4},
      {{4}, {4}, "scalar", 1, 1, 1, 4},
      {{4}, {4, 5}, "5", 1, 1, 5, 4},
      {{4}, {2, 4, 5}, "2x5", 2, 1, 5, 4},
      {{3, 4}, {4}, "3", 1, 3, 1, 4},
      {{2, 3, 4}, {4}, "2x3", 1, 6, 1, 4},
      {{0, 4}, {4, 5}, "0x5", 1, 0, 5, 4},
  };
  for (const Product& product : products) {
    const OneNode node = OneNode("MatMul").input(product.a).input(product.b);
    EXPECT_EQ(node.shapes(), product.shape);
    const auto op = node.op<MatMul>();
    EXPECT_EQ(op.batch, product.batch) << product.shape;
    EXPECT_EQ(op.m, product.m) << product.shape;
    EXPECT_EQ(op.n, product.n) << product.shape;
    EXPECT_EQ(op.k, product.k) << product.shape;
    EXPECT_EQ(node.macs(), static_cast<double>(op.batch * op.m * op.n * op.k)) << product.shape;
  }
}

TEST(MatMulRule, RefusalsNameTheNumbers) {
  EXPECT_NE(OneNode("MatMul").input({2, 3}).input({4, 5}).error().find(
                "2x3 by 4x5: the left has 3 columns, the right 4 rows"),
            std::string::npos);
  EXPECT_NE(OneNode("MatMul").input({}).input({4, 5}).error().find("a scalar is not a matrix"),
            std::string::npos);
  EXPECT_NE(OneNode("MatMul").input({2, 3, 4}).input({3, 4, 5}).error().find(
                "shapes 2 and 3 do not broadcast"),
            std::string::npos);
}

TEST(GemmRule, TransposesScalesAndAdds) {
  OneNode node = OneNode("Gemm").input({768, 197}).weight({3072, 768}).weight({3072});
  node.with("transA", 1).with("transB", 1).with("alpha", 0.5).with("beta", 2.0);
  EXPECT_EQ(node.shapes(), "197x3072");
  EXPECT_EQ(node.macs(), 197.0 * 3072 * 768);
  EXPECT_TRUE(node.op<MatMul>().bias);
  EXPECT_EQ(node.op<MatMul>().scalings, 2);
  EXPECT_EQ(total_flop(node.work()), 2 * node.macs() + 3.0 * 197 * 3072);

  OneNode plain = OneNode("Gemm").input({2, 3}).input({3, 4}).with("beta", 2.0);
  EXPECT_FALSE(plain.op<MatMul>().bias);
  EXPECT_EQ(plain.op<MatMul>().scalings, 0);
  EXPECT_NE(OneNode("Gemm").input({2, 3}).input({4, 3}).error().find("the left has 3 columns"),
            std::string::npos);
  EXPECT_NE(OneNode("Gemm").input({2, 3}).input({3, 4}).input({3}).error().find(
                "'input2' 3 does not broadcast into 2x4"),
            std::string::npos);
  EXPECT_NE(OneNode("Gemm").input({1, 2, 3}).input({3, 4}).error().find("not both matrices"),
            std::string::npos);
}

TEST(MatMulRule, IntegersComputeInTheirWidth) {
  OneNode integer = OneNode("MatMulInteger").input({2, 3}, ElementType::int8);
  integer.weight({3, 4}, ElementType::int8);
  EXPECT_EQ(integer.shapes(), "2x4 int32");
  EXPECT_EQ(integer.layer().parts[0].dtype, DType::int8);
  OneNode linear = OneNode("QLinearMatMul").input({2, 3}, ElementType::uint8);
  linear.scale().zero_point().weight({3, 4}, ElementType::int8).scale();
  linear.zero_point(ElementType::int8).scale().zero_point();
  EXPECT_EQ(linear.shapes(), "2x4 uint8");
  EXPECT_EQ(total_integer_ops(linear.work()), 2 * 2 * 4 * 3);
  OneNode dynamic = OneNode::contrib("DynamicQuantizeMatMul").input({2, 3});
  dynamic.weight({3, 4}, ElementType::int8).scale();
  EXPECT_EQ(dynamic.shapes(), "2x4");
  EXPECT_EQ(dynamic.op<MatMul>(3).k, 3);
  EXPECT_EQ(dynamic.layer().parts[3].dtype, DType::int8);
  EXPECT_EQ(dynamic.op<Elementwise>(2).function, Function::quantize);
}

TEST(MatMulRule, FusedTranspositions) {
  const auto node = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    return OneNode::contrib("FusedMatMul").input(a).input(b).with("alpha", 0.125);
  };
  EXPECT_EQ(node({2, 3, 4}, {2, 5, 4}).with("transB", 1).shapes(), "2x3x5");
  EXPECT_EQ(node({2, 4, 3}, {2, 4, 5}).with("transA", 1).op<MatMul>().scalings, 1);
  EXPECT_EQ(node({3, 2, 4}, {4, 2, 5}).with("transBatchA", 1).with("transBatchB", 1).shapes(),
            "2x3x5");
}

TEST(MatMulRule, PackedWeightsComputeInTheActivationsType) {
  const auto node = [](std::int64_t bytes) {
    OneNode packed = OneNode::contrib("MatMulNBits").input({2, 7, 64}, ElementType::fp16);
    packed.weight({32, 2, bytes}, ElementType::uint8).weight({32, 2}, ElementType::fp16);
    return packed.with("K", 64).with("N", 32).with("bits", 4).with("block_size", 32);
  };
  EXPECT_EQ(node(16).shapes(), "2x7x32 fp16");
  EXPECT_EQ(node(16).macs(), 2 * 7 * 64 * 32);
  EXPECT_EQ(node(16).layer().parts[0].dtype, DType::fp16);
  EXPECT_EQ(node(16).work().weight_bytes_read, 32 * 2 * 16 + 32 * 2 * 2);
  EXPECT_NE(node(8).error().find("too small for 2048 weights of 4 bits"), std::string::npos);

  OneNode bnb = OneNode::contrib("MatMulBnb4").input({3, 64}).weight({1024}, ElementType::uint8);
  bnb.weight({32}).with("K", 64).with("N", 32).with("block_size", 64).with("quant_type", 1);
  EXPECT_EQ(bnb.shapes(), "3x32");
  OneNode fp4 = OneNode::contrib("MatMulBlockQuantizedFp4Weight").input({3, 64}, ElementType::bf16);
  fp4.weight({32, 32}, ElementType::uint8).weight({32, 4}, ElementType::uint8).scale();
  EXPECT_EQ(fp4.shapes(), "3x32 bf16");
  EXPECT_EQ(fp4.macs(), 3 * 32 * 64);
}

TEST(MatMulRule, FusedProjectionsOfADecoder) {
  OneNode node = OneNode::contrib("MatMulNBitsQkv").input({1, 2, 64}).input({1, 2, 64});
  node.weight({64});
  for (const std::int64_t n : {64, 32, 32})
    node.weight({n, 2, 16}, ElementType::uint8).weight({n, 2}).left_out();
  node.with("K", 64).with("Nq", 64).with("Nkv", 32).with("bits", 4).with("block_size", 32);
  node.outputs(4);
  EXPECT_EQ(node.shapes(), "1x2x64, 1x2x32, 1x2x32, 1x2x64");
  EXPECT_EQ(node.macs(), 2 * 64 * (64 + 32 + 32));
}

}  // namespace
}  // namespace ridgeline::testing
