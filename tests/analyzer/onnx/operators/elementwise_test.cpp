// Element-wise operators: broadcasting, types, work, and the values folded for shapes.
// Folded values follow ONNX; a value that its type cannot hold is unknown, never wrong.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(ElementwiseRule, Broadcasts) {
  OneNode node = OneNode("Add").input({128, 768}).weight({768});
  EXPECT_EQ(node.shapes(), "128x768");
  EXPECT_EQ(node.op<Elementwise>().elements, 128 * 768);
  const Work work = node.work();
  EXPECT_EQ(work.bytes_read + work.weight_bytes_read + work.bytes_written, 789504);
  EXPECT_EQ(OneNode("Mul").input({2, 1, 4}).input({3, 1}).shapes(), "2x3x4");
  EXPECT_EQ(OneNode("Div").input({}).input({0, 4}).shapes(), "0x4");
  EXPECT_NE(OneNode("Sub").input({2, 3}).input({4}).error().find(
                "shapes 2x3 and 4 do not broadcast together"),
            std::string::npos);
}

TEST(ElementwiseRule, ComparisonsAreBool) {
  for (const char* op : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"})
    EXPECT_EQ(OneNode(op).input({2, 3}).input({3}).shapes(), "2x3 bool") << op;
  EXPECT_EQ(OneNode("IsNaN").input({2}).shapes(), "2 bool");
  EXPECT_EQ(OneNode("Not").input({2}, ElementType::boolean).shapes(), "2 bool");
}

TEST(ElementwiseRule, TypesFollowTheFirstOperand) {
  EXPECT_EQ(OneNode("Pow").input({2}, ElementType::fp16).input({}, ElementType::int64).shapes(),
            "2 fp16");
  OneNode where = OneNode("Where").input({2, 1}, ElementType::boolean);
  where.input({3}, ElementType::fp16).input({}, ElementType::fp16);
  EXPECT_EQ(where.shapes(), "2x3 fp16");
  EXPECT_EQ(where.layer().parts[0].dtype, DType::fp16);
  EXPECT_EQ(OneNode("Cast").input({2}).with("to", 10).shapes(), "2 fp16");
  EXPECT_EQ(OneNode("Cast", 1).input({2}).with("to", "INT64").shapes(), "2 int64");
  EXPECT_NE(OneNode("Cast").input({2}).with("to", 99).error().find("number 99"), std::string::npos);
  EXPECT_EQ(OneNode("CastLike").input({2}).input({5}, ElementType::bf16).shapes(), "2 bf16");
}

TEST(ElementwiseRule, OldBroadcastingFollowsAnAttribute) {
  const auto node = [] { return OneNode("Add", 6).input({2, 3, 4, 5}).input({3, 4}); };
  EXPECT_EQ(node().with("broadcast", 1).with("axis", 1).shapes(), "2x3x4x5");
  EXPECT_NE(node().with("broadcast", 1).error().find("do not broadcast"), std::string::npos);
  EXPECT_NE(node().error().find("does not say that it broadcasts"), std::string::npos);
}

TEST(ElementwiseRule, VariadicOperatorsWorkPerOperand) {
  OneNode sum = OneNode("Sum").input({2, 3}).input({3}).input({2, 1});
  EXPECT_EQ(sum.shapes(), "2x3");
  EXPECT_EQ(total_flop(sum.work()), 12);
  EXPECT_EQ(total_flop(OneNode("Mean").input({2, 3}).input({3}).work()), 12);
  EXPECT_NO_THROW(OneNode("Max").input({2, 3}).op<View>());
}

TEST(ElementwiseRule, SlopesFitTheInput) {
  EXPECT_EQ(OneNode("PRelu", 16).input({2, 3, 4}).weight({3, 1}).shapes(), "2x3x4");
  EXPECT_EQ(OneNode("PRelu", 6).input({2, 3, 4}).weight({3}).shapes(), "2x3x4");
  EXPECT_NE(OneNode("PRelu", 16).input({2, 3, 4}).weight({3}).error(), "no error");
}

TEST(ElementwiseFolding, Arithmetic) {
  EXPECT_EQ(Folded("Add", {whole({1, 2}), whole({3})}).text(), "104x105");
  EXPECT_EQ(Folded("Sub", {whole({1, 2}), whole({3})}).text(), "98x99");
  EXPECT_EQ(Folded("Mul", {whole({-3, 7}), whole({4, 5})}).text(), "88x135");
  EXPECT_EQ(Folded("Div", {whole({7, -7}), whole({2})}).text(), "103x97");
  EXPECT_EQ(Folded("Div", {real({7}), real({2})}).text(), "103");
  EXPECT_EQ(Folded("Pow", {whole({3, -2}), whole({3})}).text(), "127x92");
  EXPECT_EQ(Folded("Max", {whole({3, -2}), whole({1})}).text(), "103x101");
  EXPECT_EQ(Folded("Min", {whole({3, -2}), whole({1})}).text(), "101x98");
  EXPECT_EQ(Folded("Sum", {real({1.5}), real({2.5}), real({3})}).text(), "107");
  EXPECT_EQ(Folded("Mean", {real({1}), real({4})}).text(), "102");
}

TEST(ElementwiseFolding, RemaindersHaveTheSignThatOnnxSays) {
  EXPECT_EQ(Folded("Mod", {whole({-7, 7}), whole({3, -3})}).text(), "102x98");
  EXPECT_EQ(Folded("Mod", {whole({-7, 7}), whole({3, -3})}).with("fmod", 1).text(), "99x101");
}

TEST(ElementwiseFolding, ComparisonAndLogic) {
  EXPECT_EQ(Folded("Equal", {whole({-1, 7}), whole({-1})}).text(), "101x100");
  EXPECT_EQ(Folded("Less", {whole({-1, 7}), whole({0})}).text(), "101x100");
  EXPECT_EQ(Folded("GreaterOrEqual", {whole({0, -1}), whole({0})}).text(), "101x100");
  EXPECT_EQ(Folded("And", {truth({1, 1}), truth({0, 1})}).text(), "100x101");
  EXPECT_EQ(Folded("Xor", {truth({1, 1}), truth({0, 1})}).text(), "101x100");
  EXPECT_EQ(Folded("Not", {truth({1, 0})}).text(), "100x101");
  EXPECT_EQ(Folded("Where", {truth({1, 0}), whole({5, 6}), whole({7})}).text(), "105x107");
}

TEST(ElementwiseFolding, BitsAreBits) {
  EXPECT_EQ(Folded("BitwiseAnd", {whole({12}), whole({10})}).text(), "108");
  EXPECT_EQ(Folded("BitwiseXor", {whole({12}), whole({10})}).text(), "106");
  EXPECT_EQ(Folded("BitwiseNot", {whole({-6})}).text(), "105");
  const Operand byte{ElementType::uint8, {2}, {200, 3}};
  const Operand places{ElementType::uint8, {1}, {1}};
  EXPECT_EQ(Folded("BitShift", {byte, places}).with("direction", "LEFT").text(), "244x106");
  EXPECT_EQ(Folded("BitShift", {byte, places}).with("direction", "RIGHT").text(), "200x101");
  EXPECT_EQ(Folded("BitwiseNot", {byte}).text(), "155x352");
}

TEST(ElementwiseFolding, Rounding) {
  const Operand halves = real({-1.5, 2.5, 3.7});
  EXPECT_EQ(Folded("Floor", {halves}).text(), "98x102x103");
  EXPECT_EQ(Folded("Ceil", {halves}).text(), "99x103x104");
  EXPECT_EQ(Folded("Round", {halves}).text(), "98x102x104");
  EXPECT_EQ(Folded("Cast", {halves}).with("to", 7).text(), "99x102x103");
  EXPECT_EQ(Folded("Abs", {halves}).text(), "101x102x103");
  EXPECT_EQ(Folded("Sign", {halves}).text(), "99x101x101");
  EXPECT_EQ(Folded("Sqrt", {real({16, 2})}).text(), "104x101");
  EXPECT_EQ(
      Folded("Clip", {halves, {ElementType::fp32, {}, {0}}, {ElementType::fp32, {}, {3}}}).text(),
      "100x102x103");
  // 0.7 in fp32 is slightly below 0.7; the product is 7 only if it is rounded to fp32 too.
  EXPECT_EQ(Folded("Mul", {real({10}), real({0.7})}).text(), "107");
}

TEST(ElementwiseFolding, WhatCannotBeIsUnknown) {
  EXPECT_EQ(Folded("Div", {whole({7}), whole({0})}).text(), "unknown");
  EXPECT_EQ(Folded("Mod", {whole({7}), whole({0})}).text(), "unknown");
  EXPECT_EQ(Folded("Mul", {whole({1e18}), whole({1e18})}).text(), "unknown");
  EXPECT_EQ(Folded("Log", {real({-1})}).text(), "unknown");
  EXPECT_EQ(Folded("Cast", {whole({300})}).with("to", 3).text(), "unknown");
  EXPECT_EQ(Folded("Cast", {real({1e30})}).with("to", 7).text(), "unknown");
}

TEST(ElementwiseFolding, WhereNeedsOnlyTheBranchItTakes) {
  OnnxBuilder model;
  model.opset(20).input("x", ElementType::fp32, {1}).input("data", ElementType::int64, {2});
  model.initializer("condition", ElementType::boolean, {2}).ints({1, 1});
  model.integers("sizes", {4, 5});
  model.node("Where", {"condition", "sizes", "data"}, {"shape"});
  model.node("Expand", {"x", "shape"}, {"y"});
  model.output("y", ValueType::absent());
  EXPECT_EQ(shape_text(imported(model).graph, "y"), "4x5");
}

}  // namespace
}  // namespace ridgeline::testing
