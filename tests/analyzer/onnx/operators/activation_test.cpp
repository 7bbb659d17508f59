// Activations and softmaxes: one function per element; fused forms are split into parts.
// Cost per element is tested with the table of weights.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(ActivationRule, OneFunctionOfEachElement) {
  struct Row {
    const char* op;
    Function function;
  };
  const Row rows[] = {
      {"Relu", Function::relu},
      {"LeakyRelu", Function::leaky_relu},
      {"Elu", Function::elu},
      {"Celu", Function::elu},
      {"Selu", Function::elu},
      {"Sigmoid", Function::sigmoid},
      {"HardSwish", Function::hard_swish},
      {"HardSigmoid", Function::hard_sigmoid},
      {"Tanh", Function::tanh},
      {"Softplus", Function::softplus},
      {"Softsign", Function::softsign},
      {"Mish", Function::mish},
      {"Erf", Function::erf},
      {"Sin", Function::trigonometric},
      {"Atanh", Function::hyperbolic},
      {"Gelu", Function::gelu},
      {"Exp", Function::exp},
      {"Clip", Function::clip},
  };
  for (const Row& row : rows) {
    const OneNode node = OneNode(row.op).input({2, 3}, ElementType::fp16);
    EXPECT_EQ(node.shapes(), "2x3 fp16") << row.op;
    EXPECT_EQ(node.op<Elementwise>().function, row.function) << row.op;
    EXPECT_EQ(node.op<Elementwise>().elements, 6) << row.op;
  }
  EXPECT_EQ(OneNode("Gelu").input({2}).with("approximate", "tanh").op<Elementwise>().function,
            Function::gelu_tanh);
  EXPECT_EQ(OneNode("Swish", 24).input({2}).op<Elementwise>().function, Function::swish);
  EXPECT_EQ(OneNode("SwiGLU", 28).input({2}).input({2}).op<Elementwise>(1).function,
            Function::multiply);
}

TEST(ActivationRule, FusedFormsAreTheirParts) {
  OneNode bias = OneNode::contrib("BiasGelu").input({2, 3, 4}).weight({4});
  EXPECT_EQ(bias.op<Elementwise>(0).function, Function::add);
  EXPECT_EQ(bias.op<Elementwise>(1).function, Function::gelu);
  EXPECT_EQ(OneNode::contrib("FastGelu").input({2, 4}).layer().parts.size(), 1u);
  OneNode split = OneNode::contrib("BiasSplitGelu").input({2, 3, 8}).weight({8});
  EXPECT_EQ(split.shapes(), "2x3x4");
  OneNode dropout = OneNode::contrib("BiasDropout").input({2, 4}).weight({4}).input({2, 4});
  EXPECT_EQ(dropout.outputs(2).shapes(), "2x4, 2x4 bool");
  OneNode bits = OneNode::contrib("BitmaskBiasDropout").input({5, 10}).weight({10}).outputs(2);
  EXPECT_EQ(bits.shapes(), "5x10, 2 uint32");
  EXPECT_NE(OneNode::contrib("BiasGelu").input({2, 4}).weight({3}).error(), "no error");
}

TEST(SoftmaxRule, RowsAreCheckedByOpset) {
  EXPECT_EQ(OneNode("Softmax", 13).input({2, 3, 4}).op<Softmax>().elements, 24);
  EXPECT_TRUE(OneNode("LogSoftmax", 13).input({2, 3}).op<Softmax>().log);
  EXPECT_EQ(OneNode("Softmax", 11).input({5}).shapes(), "5");  // axis 1 equals the rank
  EXPECT_NE(OneNode("Softmax", 13).input({5}).with("axis", 1).error().find("axis 1 is outside"),
            std::string::npos);
  EXPECT_EQ(OneNode("Hardmax", 13).input({2, 3, 4}).op<Reduce>().out_elements, 6);
  EXPECT_EQ(OneNode("Hardmax", 11).input({2, 3, 4}).op<Reduce>().out_elements, 2);
}

TEST(QuantizedElementwiseRule, ComputesInFloats) {
  OneNode add = OneNode::contrib("QLinearAdd").input({2, 3}, ElementType::uint8).scale();
  add.zero_point().input({3}, ElementType::uint8).scale().zero_point().scale().zero_point();
  EXPECT_EQ(add.shapes(), "2x3 uint8");
  EXPECT_EQ(add.op<Elementwise>(2).function, Function::add);
  EXPECT_EQ(add.layer().parts[2].dtype, DType::fp32);
  OneNode concat = OneNode::contrib("QLinearConcat").scale().zero_point();
  for (const std::int64_t rows : {2, 5})
    concat.input({rows, 3}, ElementType::uint8).scale().zero_point();
  EXPECT_EQ(concat.with("axis", 0).shapes(), "7x3 uint8");
  OneNode distances = OneNode::contrib("CDist").input({3, 8}).input({5, 8});
  EXPECT_EQ(distances.with("metric", "euclidean").shapes(), "3x5");
  EXPECT_EQ(distances.macs(), 3 * 5 * 8);
}

}  // namespace
}  // namespace ridgeline::testing
