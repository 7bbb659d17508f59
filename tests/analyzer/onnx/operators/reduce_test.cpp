// Reductions: axes from attributes and inputs, kept or dropped dimensions, folded results.
// Includes positions of extrema and running sums.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(ReduceRule, AxesAreAttributesOrInputs) {
  EXPECT_EQ(OneNode("ReduceMean", 11).input({2, 3, 4}).with("axes", {-1}).shapes(), "2x3x1");
  EXPECT_EQ(
      OneNode("ReduceMean", 11).input({2, 3, 4}).with("axes", {0, 2}).with("keepdims", 0).shapes(),
      "3");
  EXPECT_EQ(OneNode("ReduceSum", 13).input({2, 3, 4}).integers({1}).shapes(), "2x1x4");
  EXPECT_EQ(OneNode("ReduceMax", 18).input({2, 3, 4}).integers({1, -1}).shapes(), "2x1x1");
  EXPECT_EQ(OneNode("ReduceL2", 18).input({2, 3, 4}).shapes(), "1x1x1");
  EXPECT_EQ(OneNode("ReduceL2", 18).input({2, 3, 4}).with("keepdims", 0).shapes(), "scalar");
  EXPECT_NE(OneNode("ReduceSum", 13).input({2, 3}).integers({2}).error().find("axis 2"),
            std::string::npos);
}

TEST(ReduceRule, NoAxesMayMeanNothing) {
  OneNode node = OneNode("ReduceSum", 13).input({2, 3}).with("noop_with_empty_axes", 1);
  EXPECT_EQ(node.shapes(), "2x3");
  EXPECT_NO_THROW(node.op<View>());
  OneNode squares = OneNode("ReduceSumSquare", 18).input({2, 3}).integers({});
  EXPECT_EQ(squares.with("noop_with_empty_axes", 1).shapes(), "2x3");
}

TEST(ReduceRule, CountsWhatGoesAway) {
  OneNode node = OneNode("ReduceMean", 18).input({2, 3, 4}).integers({2});
  EXPECT_EQ(node.op<Reduce>().in_elements, 24);
  EXPECT_EQ(node.op<Reduce>().out_elements, 6);
  EXPECT_EQ(total_flop(node.work()), 24 - 6 + 6);
  EXPECT_EQ(node.work().bytes_read, 24 * 4);  // axes are not data
}

TEST(ReduceRule, PositionsOfExtrema) {
  EXPECT_EQ(OneNode("ArgMax").input({2, 3, 4}).shapes(), "1x3x4 int64");
  EXPECT_EQ(OneNode("ArgMin").input({2, 3, 4}).with("axis", -1).with("keepdims", 0).shapes(),
            "2x3 int64");
}

TEST(ReduceFolding, SizesAreMultipliedAndCompared) {
  const Operand sizes = whole({2, 3, 4});
  EXPECT_EQ(Folded("ReduceProd", {sizes}).text(), "124");
  EXPECT_EQ(Folded("ReduceSum", {sizes}).text(), "109");
  EXPECT_EQ(Folded("ReduceMax", {sizes}).text(), "104");
  EXPECT_EQ(Folded("ReduceMin", {sizes}).text(), "102");
  EXPECT_EQ(Folded("ReduceMean", {sizes}).text(), "103");
  EXPECT_EQ(Folded("ReduceL1", {whole({-2, 3})}).text(), "105");
  EXPECT_EQ(Folded("ReduceSumSquare", {whole({-2, 3})}).text(), "113");
  const Operand matrix{ElementType::int64, {2, 2}, {1, 2, 3, 4}};
  EXPECT_EQ(Folded("ReduceProd", {matrix, whole({1})}).with("keepdims", 0).text(), "102x112");
  EXPECT_EQ(Folded("ReduceSum", {matrix, whole({0})}).with("keepdims", 0).text(), "104x106");
}

TEST(ReduceFolding, RunningSums) {
  const Operand axis{ElementType::int64, {}, {0}};
  EXPECT_EQ(Folded("CumSum", {whole({1, 2, 3}), axis}).text(), "101x103x106");
  EXPECT_EQ(Folded("CumSum", {whole({1, 2, 3}), axis}).with("exclusive", 1).text(), "100x101x103");
  EXPECT_EQ(Folded("CumSum", {whole({1, 2, 3}), axis}).with("reverse", 1).text(), "106x105x103");
  EXPECT_EQ(Folded("CumProd", {whole({1, 2, 3}), axis}, 26).text(), "101x102x106");
}

}  // namespace
}  // namespace ridgeline::testing
