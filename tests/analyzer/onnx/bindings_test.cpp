// Free dimensions: which options set them, and the error when none does.
// Shapes of operators are tested with the operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

OnnxBuilder relu_of(const std::vector<Dim>& dims) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, dims).output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

Error error_of(const OnnxBuilder& model, const onnx::ImportOptions& options = {}) {
  try {
    imported(model, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {"", ""};
}

TEST(Bindings, FixedShapesNeedNothing) {
  const auto result = imported(relu_of({2, 3}));
  EXPECT_EQ(shape_text(result.graph, "y"), "2x3");
  EXPECT_EQ(tensor_named(result.graph, "y").source, ShapeSource::fixed);
  EXPECT_EQ(result.batch, 2);
}

TEST(Bindings, AMissingSymbolIsAskedForByName) {
  const Error error = error_of(relu_of({"batch", "seq", 8}));
  EXPECT_EQ(error.code(), ExitCode::incomplete);
  EXPECT_THAT(error.what(), HasSubstr("\"batch\""));
  EXPECT_THAT(error.what(), HasSubstr("--dim batch=… --dim seq=…"));
}

TEST(Bindings, ADimensionWithoutSymbolIsAskedForByInput) {
  const Error error = error_of(relu_of({Dim(), 3}));
  EXPECT_EQ(error.code(), ExitCode::incomplete);
  EXPECT_THAT(error.what(), HasSubstr("axis 0 of \"x\""));
  EXPECT_THAT(error.what(), HasSubstr("--shape x=…"));
}

// Paddle and WinML exporters give every free dimension the same name.
TEST(Bindings, WhatEveryFreeDimensionIsCalledIsNoSymbol) {
  onnx::ImportOptions options;
  options.shapes["x"] = {1, 3, 48, 192};
  for (const char* name : {"?", "None"})
    EXPECT_EQ(shape_text(imported(relu_of({name, 3, name, name}), options).graph, "y"),
              "1x3x48x192");
}

TEST(Bindings, MinusOneIsFreeAndLessIsNonsense) {
  EXPECT_EQ(error_of(relu_of({-1, 3})).code(), ExitCode::incomplete);
  const Error error = error_of(relu_of({-7, 3}), {.assumed_dim = 1});
  EXPECT_EQ(error.code(), ExitCode::error);
  EXPECT_THAT(error.what(), HasSubstr("-7"));
}

TEST(Bindings, DimsShapesAndAssumptionsSayWhoSpoke) {
  const auto model = relu_of({"batch", "seq"});
  auto result = imported(model, {.dims = {{"batch", 4}, {"seq", 128}}});
  EXPECT_EQ(shape_text(result.graph, "y"), "4x128");
  EXPECT_EQ(tensor_named(result.graph, "y").source, ShapeSource::given);
  result = imported(model, {.dims = {{"batch", 4}}, .assumed_dim = 1});
  EXPECT_EQ(shape_text(result.graph, "y"), "4x1");
  EXPECT_EQ(layer_named(result.graph, "y").shapes, ShapeSource::assumed);
}

TEST(Bindings, AShapeBindsItsSymbolsForTheOtherInputs) {
  OnnxBuilder model;
  model.opset(17)
      .input("a", ElementType::fp32, {"n", 3})
      .input("b", ElementType::fp32, {"n", 3})
      .output("y");
  model.node("Add", {"a", "b"}, {"y"});
  const auto result = imported(model, {.shapes = {{"a", {5, 3}}}});
  EXPECT_EQ(shape_text(result.graph, "b"), "5x3");
}

TEST(Bindings, OneSymbolCannotHaveTwoSizes) {
  const Error error =
      error_of(relu_of({"n", "n"}), {.dims = {{"n", 2}}, .shapes = {{"x", {2, 3}}}});
  EXPECT_EQ(error.code(), ExitCode::usage);
}

TEST(Bindings, AnUnknownNameIsAUsageErrorThatOffersTheNearest) {
  EXPECT_THAT(error_of(relu_of({"batch"}), {.dims = {{"bacth", 1}}}).what(),
              HasSubstr("did you mean \"batch\"?"));
  EXPECT_EQ(error_of(relu_of({3}), {.shapes = {{"z", {3}}}}).code(), ExitCode::usage);
}

TEST(Bindings, TheBatchReplacesAFreeOrAFixedFirstDimension) {
  EXPECT_EQ(shape_text(imported(relu_of({"n", 3}), {.batch = 8}).graph, "y"), "8x3");
  EXPECT_EQ(shape_text(imported(relu_of({Dim(), 3}), {.batch = 8}).graph, "y"), "8x3");
  EXPECT_EQ(shape_text(imported(relu_of({1, 3}), {.batch = 8}).graph, "y"), "8x3");
}

TEST(Bindings, ABatchLeavesInputsAloneThatBeginWithSomethingElse) {
  OnnxBuilder model;
  model.opset(17)
      .input("x", ElementType::fp32, {1, 3})
      .input("table", ElementType::fp32, {50, 3})
      .output("y")
      .output("z");
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"table"}, {"z"});
  const auto result = imported(model, {.batch = 8});
  EXPECT_EQ(shape_text(result.graph, "y"), "8x3");
  EXPECT_EQ(shape_text(result.graph, "z"), "50x3");
}

TEST(Bindings, ABatchLeavesInputsAloneThatNodesReadAsWeights) {
  OnnxBuilder model;
  model.opset(17)
      .input("w", ElementType::fp32, {6, 1, 3, 3})
      .input("x", ElementType::fp32, {6, 1, 8, 8})
      .input("m", ElementType::fp32, {6, 5})
      .output("z");
  model.node("Conv", {"x", "w"}, {"y"});
  model.node("MatMul", {"y", "m"}, {"z"});
  const auto result = imported(model, {.batch = 2});
  EXPECT_EQ(shape_text(result.graph, "w"), "6x1x3x3");
  EXPECT_EQ(shape_text(result.graph, "z"), "2x6x6x5");
}

// A declared shape holds for the batch in the file.
TEST(Bindings, ABatchChangesDeclaredShapesToo) {
  OnnxBuilder model = relu_of({2, 3});
  model.node("Odd", {"y"}, {"a"}).domain("my");
  model.node("Relu", {"a"}, {"z"});
  model.value_info("a", ElementType::fp32, {2, 7}).output("z");
  model.opset(1, "my");
  EXPECT_EQ(shape_text(imported(model).graph, "z"), "2x7");
  EXPECT_EQ(shape_text(imported(model, {.batch = 8}).graph, "z"), "8x7");
  // The declared shape does not apply to other sizes.
  EXPECT_EQ(shape_text(imported(model, {.shapes = {{"x", {2, 4}}}}).graph, "z"), "unknown");
}

TEST(Bindings, InitializersThatAreListedAsInputsAreWeights) {
  OnnxBuilder model;
  model.opset(9).ir_version(3);
  model.input("x", ElementType::fp32, {1, 4}).input("w", ElementType::fp32, {4, 2}).output("y");
  model.initializer("w", ElementType::fp32, {4, 2});
  model.node("MatMul", {"x", "w"}, {"y"});
  const auto result = imported(model);
  EXPECT_EQ(result.graph.inputs.size(), 1u);
  EXPECT_EQ(tensor_named(result.graph, "w").role, Role::weight);
  EXPECT_TRUE(tensor_named(result.graph, "w").is_parameter);
}

TEST(Bindings, ARankThatNobodyKnowsIsAskedFor) {
  OnnxBuilder model;
  model.opset(17).input("q", ValueType::tensor_of_any_rank(ElementType::fp32)).output("y");
  model.node("Relu", {"q"}, {"y"});
  const Error error = error_of(model, {.assumed_dim = 1});
  EXPECT_EQ(error.code(), ExitCode::incomplete);
  EXPECT_THAT(error.what(), HasSubstr("the whole shape of \"q\""));
  EXPECT_EQ(shape_text(imported(model, {.shapes = {{"q", {2, 2}}}}).graph, "y"), "2x2");
}

TEST(Bindings, HugeShapesAreRefused) {
  EXPECT_EQ(error_of(relu_of({std::int64_t{1} << 41})).code(), ExitCode::error);
  const std::int64_t big = std::int64_t{1} << 39;
  EXPECT_EQ(error_of(relu_of({big, big})).code(), ExitCode::error);
}

// Exporters store a mask's fill value as a tensor of one element.
TEST(Bindings, TheFillValueOfAMaskIsNoParameter) {
  OnnxBuilder model;
  model.opset(17);
  model.input("x", ElementType::fp32, {4}).input("mask", ElementType::boolean, {4}).output("y");
  model.initializer("fill", ElementType::fp32, {1});
  model.initializer("token", ElementType::fp32, {4});
  model.node("Where", {"mask", "fill", "x"}, {"masked"});
  model.node("Where", {"mask", "token", "masked"}, {"y"});
  const auto graph = imported(model).graph;
  EXPECT_FALSE(tensor_named(graph, "fill").is_parameter);
  EXPECT_TRUE(tensor_named(graph, "token").is_parameter);
}

// The first dimension is not always the batch.
TEST(Bindings, TheBatchIsWhereTheInputSaysSo) {
  EXPECT_EQ(imported(relu_of({3, 64, 48})).batch, std::nullopt);  // one image of a detector
  EXPECT_EQ(imported(relu_of({3, 16, 8})).batch, 3);
  EXPECT_EQ(
      shape_text(
          imported(relu_of({"time", "batch_size", 8}), {.batch = 4, .dims = {{"time", 10}}}).graph,
          "y"),
      "10x4x8");
  EXPECT_EQ(
      shape_text(imported(relu_of({5, 1, 8}), {.batch = 4, .batch_axes = {{"x", 1}}}).graph, "y"),
      "5x4x8");
  const Error error = error_of(relu_of({3, 64, 48}), {.batch = 4});
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("--batch-axis"));
  EXPECT_EQ(error_of(relu_of({1, 3}), {.batch = 4, .batch_axes = {{"x", std::nullopt}}}).code(),
            ExitCode::usage);
  EXPECT_EQ(error_of(relu_of({1, 3}), {.batch = 4, .batch_axes = {{"x", 2}}}).code(),
            ExitCode::usage);
}

TEST(Bindings, ValuesOfAnInputDecideShapes) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 6}).input("size", ElementType::int64, {2});
  model.output("y");
  model.node("Reshape", {"x", "size"}, {"y"});
  EXPECT_EQ(shape_text(imported(model, {.values = {{"size", {2, 3}}}}).graph, "y"), "2x3");
  const Error error = error_of(model, {.values = {{"size", {2, 3, 1}}}});
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("3 values for an input of 2"));
}

// The window's own size does not tell a user which option to change.
TEST(Bindings, ASizeTooSmallForAWindowIsNamed) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {"batch", 3, "height", 64}).output("y");
  model.initializer("w", ElementType::fp32, {8, 3, 7, 7});
  model.node("Conv", {"x", "w"}, {"y"}).name("first");
  const Error error = error_of(model, {.batch = 2, .dims = {{"height", 5}}});
  EXPECT_THAT(error.what(),
              HasSubstr("node \"first\" (Conv): a window of 7 does not fit into the 5 of spatial "
                        "axis 0 (give larger sizes than height = 5 (axis 2 of \"x\"))"));
}

}  // namespace
}  // namespace ridgeline::testing
