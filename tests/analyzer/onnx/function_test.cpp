// Local functions are inlined: attributes, omitted inputs, nesting, and endless recursion.
// Unknown operators are rows too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

OnnxBuilder calling_model() {
  OnnxBuilder model;
  model.opset(17).opset(1, "my").input("x", ElementType::fp32, {2, 6}).output("y");
  return model;
}

TEST(Functions, AreInlinedWithTheAttributesOfTheCall) {
  auto model = calling_model();
  auto& pick = model.function("my", "Pick", {"a"}, {"b"});
  pick.opset(17).attribute("where").attribute_default("other", 1);
  pick.node("Concat", {"a", "a"}, {"c"}).name("join").attribute_reference("axis", "where", 2);
  pick.node("Concat", {"c", "c"}, {"b"}).name("again").attribute_reference("axis", "other", 2);
  model.node("Pick", {"x"}, {"y"}).name("call").domain("my").attribute("where", 0);
  const auto result = imported(model);
  EXPECT_EQ(result.graph.tensors[result.graph.outputs.front()].shape, (Shape{4, 12}));
  EXPECT_EQ(layer_named(result.graph, "call/join").origin, "Concat");
  EXPECT_EQ(unknown_layers(result.graph), 0u);
}

TEST(Functions, AttributesGoThroughSeveralCalls) {
  auto model = calling_model();
  auto& outer = model.function("my", "Outer", {"a"}, {"b"});
  outer.opset(1, "my").attribute("axis");
  outer.node("Inner", {"a"}, {"b"}).domain("my").attribute_reference("axis", "axis", 2);
  auto& inner = model.function("my", "Inner", {"a"}, {"b"});
  inner.opset(17).attribute("axis");
  inner.node("Concat", {"a", "a"}, {"b"}).attribute_reference("axis", "axis", 2);
  model.node("Outer", {"x"}, {"y"}).domain("my").attribute("axis", 0);
  EXPECT_EQ(imported(model).graph.tensors.back().shape, (Shape{4, 6}));
}

TEST(Functions, AnInputThatIsLeftOutIsLeftOutInside) {
  auto model = calling_model();
  auto& clip = model.function("my", "MaybeClip", {"a", "low", "high"}, {"b"});
  clip.opset(17);
  clip.node("Clip", {"a", "low", "high"}, {"b"});
  model.node("MaybeClip", {"x"}, {"y"}).domain("my");
  EXPECT_EQ(imported(model).graph.tensors.back().shape, (Shape{2, 6}));
}

TEST(Functions, ThatCallThemselvesAreAnError) {
  auto model = calling_model();
  auto& endless = model.function("my", "Endless", {"a"}, {"b"});
  endless.opset(1, "my");
  endless.node("Endless", {"a"}, {"b"}).domain("my");
  model.node("Endless", {"x"}, {"y"}).domain("my");
  EXPECT_THROW(
      {
        try {
          imported(model);
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("without end"));
          throw;
        }
      },
      Error);
}

TEST(Functions, ThatUnrollWithoutMeasureAreAnError) {
  auto model = calling_model();
  for (int level = 0; level < 40; ++level) {
    auto& twice = model.function("my", "F" + std::to_string(level), {"a"}, {"c"});
    twice.opset(17).opset(1, "my");
    const std::string next = level == 39 ? "Relu" : "F" + std::to_string(level + 1);
    twice.node(next, {"a"}, {"b"}).domain(level == 39 ? "" : "my");
    twice.node(next, {"b"}, {"c"}).domain(level == 39 ? "" : "my");
  }
  model.node("F0", {"x"}, {"y"}).domain("my");
  EXPECT_THROW(imported(model), Error);
}

TEST(UnknownOperators, AreRowsAndCounted) {
  auto model = calling_model();
  model.node("Odd", {"x"}, {"a"}).name("odd1").domain("my");
  model.node("Odd", {"x"}, {"b"}).name("odd2").domain("my");
  model.node("Add", {"a", "b"}, {"y"}).name("sum");
  const auto result = imported(model);
  EXPECT_EQ(unknown_layers(result.graph), 3u);
  EXPECT_EQ(layer_named(result.graph, "odd2").origin, "my.Odd");
  EXPECT_EQ(shape_text(result.graph, "y"), "unknown");
}

TEST(UnknownOperators, TheFilesOwnShapesHelpThoseAfterThem) {
  auto model = calling_model();
  model.value_info("a", ElementType::fp32, {2, 6});
  model.node("Odd", {"x"}, {"a"}).name("odd").domain("my");
  model.node("Relu", {"a"}, {"y"}).name("relu");
  const auto result = imported(model);
  EXPECT_EQ(unknown_layers(result.graph), 1u);
  EXPECT_EQ(shape_text(result.graph, "y"), "2x6");
  EXPECT_EQ(layer_named(result.graph, "relu").shapes, ShapeSource::declared);
}

}  // namespace
}  // namespace ridgeline::testing
