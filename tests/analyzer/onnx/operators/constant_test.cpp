// Operators that create tensors: constants of every form, shapes and ranges as values.
// A size in a file never causes an allocation.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

TEST(ConstantRule, EveryFormOfValue) {
  EXPECT_EQ(OneNode("Constant").with("value_int", 3).shapes(), "scalar int64");
  EXPECT_EQ(OneNode("Constant").with("value_ints", {1, 2, 3}).shapes(), "3 int64");
  EXPECT_EQ(OneNode("Constant").with("value_float", 0.5).shapes(), "scalar");
  EXPECT_EQ(OneNode("Constant").with("value_floats", {0.5, 1.5}).shapes(), "2");
  EXPECT_EQ(OneNode("Constant").with("value_string", "text").shapes(), "scalar string");
  EXPECT_EQ(OneNode("Constant")
                .with("value", TensorBuilder("t", ElementType::fp16, {2, 3}).zeros())
                .shapes(),
            "2x3 fp16");
  EXPECT_NE(OneNode("Constant").error(), "no error");
}

TEST(ConstantRule, ValuesServeAsShapes) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {1}).output("y");
  model.node("Constant", {}, {"shape"}).attribute("value_ints", {4, 5});
  model.node("Expand", {"x", "shape"}, {"y"});
  EXPECT_EQ(shape_text(imported(model).graph, "y"), "4x5");
}

TEST(ConstantRule, ConstantOfShapeIsAsLargeAsItSays) {
  EXPECT_EQ(OneNode("ConstantOfShape").integers({2, 0, 3}).shapes(), "2x0x3");
  EXPECT_EQ(OneNode("ConstantOfShape").integers({}).shapes(), "scalar");
  EXPECT_EQ(OneNode("ConstantOfShape")
                .integers({1 << 20, 1 << 20})
                .with("value", TensorBuilder("t", ElementType::int8, {1}).ints({7}))
                .shapes(),
            "1048576x1048576 int8");
  EXPECT_NE(OneNode("ConstantOfShape").integers({-1}).error(), "no error");
  EXPECT_NE(OneNode("ConstantOfShape").integers({1 << 30, 1 << 30, 1 << 30}).error(), "no error");
  EXPECT_EQ(Folded("ConstantOfShape", {whole({3})})
                .with("value", TensorBuilder("t", ElementType::int64, {1}).ints({7}))
                .text(),
            "107x107x107");
}

TEST(ConstantRule, RangeCountsAsRuntimesDo) {
  EXPECT_EQ(Folded("Range", {{ElementType::int64, {}, {2}},
                             {ElementType::int64, {}, {9}},
                             {ElementType::int64, {}, {3}}})
                .text(),
            "102x105x108");
  EXPECT_EQ(OneNode("Range").integer(5).integer(0).integer(-2).shapes(), "3 int64");
  EXPECT_EQ(OneNode("Range").integer(5).integer(0).integer(2).shapes(), "0 int64");
  // (3 − 0) / 0.3 is ten in double precision.
  EXPECT_EQ(OneNode("Range").floats({0}).floats({3}).floats({0.3}).shapes(), "10");
  EXPECT_NE(OneNode("Range").integer(0).integer(5).integer(0).error(), "no error");
}

TEST(ConstantRule, EyeAndOneHot) {
  EXPECT_EQ(OneNode("EyeLike").input({3, 4}).with("dtype", 7).shapes(), "3x4 int64");
  EXPECT_EQ(Folded("EyeLike", {{ElementType::int64, {2, 2}, {5, 5, 5, 5}}}).text(),
            "101x100x100x101");
  EXPECT_EQ(OneNode("OneHot").input({2, 3}, ElementType::int64).integer(10).floats({0, 1}).shapes(),
            "2x3x10");
  EXPECT_EQ(OneNode("OneHot")
                .input({2, 3}, ElementType::int64)
                .integers({10})
                .floats({0, 1})
                .with("axis", 0)
                .shapes(),
            "10x2x3");
}

TEST(ShapeRule, AnyPartOfTheShape) {
  EXPECT_EQ(Folded("Shape", {{ElementType::int64, {4, 5, 6}, std::vector<double>(120, 1)}}).text(),
            "104x105x106");
  EXPECT_EQ(Folded("Shape", {{ElementType::int64, {4, 5, 6}, std::vector<double>(120, 1)}})
                .with("start", -2)
                .with("end", 2)
                .text(),
            "105");
  EXPECT_EQ(OneNode("Shape").input({4, 5}).with("start", 5).shapes(), "0 int64");
  EXPECT_EQ(Folded("Size", {{ElementType::int64, {2, 3}, std::vector<double>(6, 1)}}).text(),
            "106");
  EXPECT_TRUE(std::holds_alternative<View>(OneNode("Shape").input({4}).layer().parts.at(0).op));
}

}  // namespace
}  // namespace ridgeline::testing
