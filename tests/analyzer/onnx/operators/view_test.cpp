// Operators that move nothing: other shapes and names for the same elements.
// Reshape is special: its target may be partly unknown, or hold a batch that the user changed.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/operators/folded.h"
#include "tests/analyzer/onnx/operators/one_node.h"

namespace ridgeline::testing {
namespace {

std::string reshaped(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
  const OneNode node = OneNode("Reshape").input(from).integers(to);
  const std::string error = node.error();
  return error == "no error" ? node.shapes() : error;
}

TEST(ReshapeRule, TargetsOfEveryForm) {
  EXPECT_EQ(reshaped({2, 3, 4}, {6, 4}), "6x4");
  EXPECT_EQ(reshaped({2, 3, 4}, {-1, 4}), "6x4");
  EXPECT_EQ(reshaped({2, 3, 4}, {0, -1}), "2x12");
  EXPECT_EQ(reshaped({1}, {}), "scalar");
  EXPECT_EQ(reshaped({0, 3}, {0, 5}), "0x5");
  EXPECT_EQ(OneNode("Reshape", 14).input({0, 3}).integers({3, 0}).with("allowzero", 1).shapes(),
            "3x0");
  EXPECT_EQ(OneNode("Reshape", 1).input({2, 3}).with("shape", {3, 2}).shapes(), "3x2");
}

TEST(ReshapeRule, WhatCannotBeIsSaidWithItsNumbers) {
  EXPECT_NE(reshaped({2, 3}, {4, 2}).find("6 elements"), std::string::npos);
  EXPECT_NE(reshaped({2, 3}, {4, -1}).find("4x?"), std::string::npos);
  EXPECT_NE(reshaped({2, 3}, {-1, -1}).find("more than one"), std::string::npos);
  EXPECT_NE(reshaped({2, 3}, {6, 1, 0}).find("dimension 2"), std::string::npos);
  EXPECT_NE(reshaped({2, 3}, {-2, 3}).find("-2"), std::string::npos);
}

// One element of the target (a batch) is data; the other elements determine it.
TEST(ReshapeRule, OneElementMayDependOnData) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {6, 4}).input("n", ElementType::int64, {1});
  model.integers("four", {4});
  model.node("Concat", {"n", "four"}, {"target"}).attribute("axis", 0);
  model.node("Reshape", {"x", "target"}, {"y"});
  model.output("y");
  EXPECT_EQ(shape_text(imported(model).graph, "y"), "6x4");
}

OnnxBuilder with_batch_in_target(const std::vector<Dim>& input,
                                 const std::vector<std::int64_t>& target) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, input).output("y");
  model.integers("target", target);
  model.node("Relu", {"x"}, {"r"});
  model.node("Reshape", {"r", "target"}, {"y"});
  return model;
}

TEST(ReshapeRule, FollowsTheBatch) {
  const auto with_batch = [](const OnnxBuilder& model, std::int64_t batch) {
    onnx::ImportOptions options;
    options.batch = batch;
    const onnx::Import result = imported(model, options);
    EXPECT_FALSE(result.warnings.empty());
    return shape_text(result.graph, "y");
  };
  EXPECT_EQ(with_batch(with_batch_in_target({1, 3, 4}, {1, 12}), 8), "8x12");
  EXPECT_EQ(with_batch(with_batch_in_target({1, 3, 4}, {1, -1}), 8), "8x12");
  EXPECT_EQ(with_batch(with_batch_in_target({2, 3, 4}, {6, 4}), 8), "24x4");
}

TEST(ViewRule, ShapesOfEveryOpset) {
  EXPECT_EQ(OneNode("Flatten").input({2, 3, 4}).shapes(), "2x12");
  EXPECT_EQ(OneNode("Flatten").input({2, 3, 4}).with("axis", 3).shapes(), "24x1");
  EXPECT_EQ(OneNode("Flatten").input({2, 3, 4}).with("axis", -1).shapes(), "6x4");
  EXPECT_EQ(OneNode("Squeeze", 11).input({1, 3, 1}).with("axes", {0}).shapes(), "3x1");
  EXPECT_EQ(OneNode("Squeeze", 13).input({1, 3, 1}).integers({-1}).shapes(), "1x3");
  EXPECT_EQ(OneNode("Squeeze", 13).input({1, 3, 1}).shapes(), "3");
  EXPECT_EQ(OneNode("Squeeze", 13).input({1, 3, 1}).integers({}).shapes(), "3");
  EXPECT_EQ(OneNode("Unsqueeze", 11).input({3}).with("axes", {0, 2}).shapes(), "1x3x1");
  EXPECT_EQ(OneNode("Unsqueeze", 13).input({3}).integers({-1}).shapes(), "3x1");
  EXPECT_EQ(OneNode("Identity").input({3}, ElementType::int8).shapes(), "3 int8");
  EXPECT_EQ(OneNode("BitCast", 26).input({3}).with("to", 6).shapes(), "3 int32");
  EXPECT_EQ(OneNode::contrib("ExpandDims").input({3}).integer(0).shapes(), "1x3");
  EXPECT_NE(OneNode("Squeeze", 13).input({2, 3}).integers({0}).error(), "no error");
  EXPECT_NE(OneNode("Unsqueeze", 13).input({3}).integers({0, 0}).error(), "no error");
  EXPECT_NE(OneNode("BitCast", 26).input({3}).with("to", 7).error(), "no error");
}

TEST(ViewRule, NothingIsMoved) {
  EXPECT_EQ(OneNode("Flatten").input({2, 3, 4}).work().bytes_read, 0);
  EXPECT_EQ(OneNode("Dropout").input({2, 3}).work().bytes_written, 0);
}

TEST(ViewRule, DropoutWorksInTrainingOnly) {
  EXPECT_EQ(OneNode("Dropout").input({2, 3}).outputs(2).shapes(), "2x3, 2x3 bool");
  EXPECT_EQ(OneNode("Dropout", 7).input({2, 3}).outputs(2).shapes(), "2x3, 2x3");
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {2, 3}).output("y");
  model.initializer("ratio", ElementType::fp32, {}).floats({0.5});
  model.initializer("training", ElementType::boolean, {}).ints({1});
  model.node("Dropout", {"x", "ratio", "training"}, {"y"}).name("drop");
  const Graph graph = imported(model).graph;
  EXPECT_EQ(std::get<Elementwise>(layer_named(graph, "drop").parts.at(0).op).function,
            Function::dropout);
  EXPECT_EQ(OneNode::contrib("BitmaskDropout").input({5, 10}).outputs(2).shapes(),
            "5x10, 2 uint32");
}

TEST(ViewRule, ElementsPassThrough) {
  EXPECT_EQ(Folded("Identity", {whole({7, 8})}).text(), "107x108");
  EXPECT_EQ(Folded("Squeeze", {{ElementType::int64, {1, 2}, {7, 8}}}).text(), "107x108");
}

TEST(ViewRule, OptionalsAreTheirContents) {
  EXPECT_EQ(OneNode("Optional").input({2, 3}).shapes(), "2x3");
  EXPECT_EQ(OneNode("OptionalGetElement", 18).input({2, 3}).shapes(), "2x3");
  EXPECT_EQ(OneNode("OptionalHasElement", 18).input({2, 3}).shapes(), "scalar bool");
}

}  // namespace
}  // namespace ridgeline::testing
