// Quantise and dequantise steps next to products: integer arithmetic, quantised bytes, no row
// counted twice. A step on its own, or with other readers, is kept.
#include <gtest/gtest.h>

#include "analyzer/count/count.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

void scalar(OnnxBuilder& model, const std::string& name, ElementType type) {
  model.initializer(name, type, {}).zeros();
}

// x → Q → DQ → [product] → Q → DQ, weights w → DQ.
OnnxBuilder quantised_matmul(ElementType weights) {
  OnnxBuilder model;
  model.opset(21).input("x", ElementType::fp32, {8, 16}).output("y");
  scalar(model, "s", ElementType::fp32);
  scalar(model, "z", ElementType::int8);
  scalar(model, "wz", weights);
  model.initializer("w", weights, {16, 4});
  model.node("QuantizeLinear", {"x", "s", "z"}, {"xq"}).name("q_in");
  model.node("DequantizeLinear", {"xq", "s", "z"}, {"xd"}).name("dq_in");
  model.node("DequantizeLinear", {"w", "s", "wz"}, {"wd"}).name("dq_w");
  model.node("MatMul", {"xd", "wd"}, {"m"}).name("product");
  model.node("QuantizeLinear", {"m", "s", "z"}, {"mq"}).name("q_out");
  model.node("DequantizeLinear", {"mq", "s", "z"}, {"y"}).name("dq_out");
  return model;
}

TEST(AbsorbQuantization, AProductBetweenStepsComputesInIntegers) {
  const auto graph = imported(quantised_matmul(ElementType::int8)).graph;
  const Layer& product = layer_named(graph, "product");
  EXPECT_EQ(product.parts.front().dtype, DType::int8);
  const Work work = count_layer(graph, product, default_weights());
  EXPECT_EQ(work.macs, 8 * 16 * 4);
  EXPECT_EQ(total_integer_ops(work), 2 * 8 * 16 * 4);
  EXPECT_EQ(total_flop(work), 0);
  EXPECT_EQ(work.bytes_written, 8 * 4);  // one byte each
  EXPECT_EQ(layer_named(graph, "dq_in").standing, Standing::absorbed);
  EXPECT_EQ(layer_named(graph, "q_out").standing, Standing::absorbed);
  EXPECT_EQ(layer_named(graph, "dq_w").standing, Standing::folded);
  EXPECT_EQ(layer_named(graph, "q_in").standing, Standing::counted);
  EXPECT_EQ(layer_named(graph, "dq_out").standing, Standing::counted);
  EXPECT_TRUE(tensor_named(graph, "w").is_parameter);
  EXPECT_FALSE(tensor_named(graph, "wd").is_parameter);
}

TEST(AbsorbQuantization, WeightsAloneAreWidened) {
  OnnxBuilder model;
  model.opset(21).input("x", ElementType::fp16, {8, 16}).output("y");
  model.initializer("s", ElementType::fp16, {16, 1});
  model.initializer("w", ElementType::int4, {16, 6});
  model.node("DequantizeLinear", {"w", "s"}, {"wd"})
      .name("dq_w")
      .attribute("axis", 1)
      .attribute("block_size", 6);
  model.node("MatMul", {"x", "wd"}, {"y"}).name("product");
  const auto graph = imported(model).graph;
  const Layer& product = layer_named(graph, "product");
  EXPECT_EQ(product.parts.front().dtype, DType::fp16);
  const Work work = count_layer(graph, product, default_weights());
  EXPECT_EQ(work.weight_bytes_read, 16 * 6 / 2 + 16 * 2);
}

TEST(AbsorbQuantization, AStepThatOthersReadStays) {
  auto model = quantised_matmul(ElementType::int8);
  model.output("other");
  model.node("Relu", {"xd"}, {"other"});
  const auto graph = imported(model).graph;
  EXPECT_EQ(layer_named(graph, "dq_in").standing, Standing::counted);
  EXPECT_EQ(layer_named(graph, "product").parts.front().dtype, DType::int8);
}

TEST(AbsorbQuantization, SixteenBitsStayFloat) {
  OnnxBuilder model;
  model.opset(21).input("x", ElementType::int16, {8, 16}).output("y");
  scalar(model, "s", ElementType::fp32);
  model.initializer("w", ElementType::int8, {16, 4});
  model.node("DequantizeLinear", {"x", "s"}, {"xd"}).name("dq_in");
  model.node("DequantizeLinear", {"w", "s"}, {"wd"});
  model.node("MatMul", {"xd", "wd"}, {"y"}).name("product");
  const auto graph = imported(model).graph;
  EXPECT_EQ(layer_named(graph, "product").parts.front().dtype, DType::fp32);
  EXPECT_EQ(layer_named(graph, "dq_in").standing, Standing::counted);
}

}  // namespace
}  // namespace ridgeline::testing
