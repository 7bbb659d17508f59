// The order of nodes, and graphs that have none: cycles, tensors made twice or not at all.
// Any valid order gives the same shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message_of(const OnnxBuilder& model) {
  try {
    imported(model);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::error);
    return error.what();
  }
  return "no error";
}

OnnxBuilder model_on(const std::string& input) {
  OnnxBuilder model;
  model.opset(17).input(input, ElementType::fp32, {2, 3});
  return model;
}

TEST(NodeOrder, NodesMayStandInAnyOrder) {
  auto model = model_on("x");
  model.output("b");
  model.node("Relu", {"a"}, {"b"}).name("second");
  model.node("Neg", {"x"}, {"a"}).name("first");
  const auto result = imported(model);
  ASSERT_EQ(result.graph.layers.size(), 2u);
  EXPECT_EQ(result.graph.layers[0].name, "first");
  EXPECT_EQ(shape_text(result.graph, "b"), "2x3");
  EXPECT_EQ(result.warnings.size(), 1u);
}

TEST(NodeOrder, ShapesDoNotDependOnIt) {
  rc::check([] {
    // A random graph of additions in which each node reads two earlier tensors.
    const auto nodes = *rc::gen::inRange(2, 20);
    std::vector<std::pair<int, int>> reads;
    for (int i = 0; i < nodes; ++i)
      reads.emplace_back(*rc::gen::inRange(0, i + 1), *rc::gen::inRange(0, i + 1));
    std::vector<int> order(static_cast<std::size_t>(nodes));
    std::iota(order.begin(), order.end(), 0);
    const auto build = [&] {
      auto model = model_on("t0");
      model.output("t" + std::to_string(nodes));
      for (const int i : order) {
        const auto [a, b] = reads[static_cast<std::size_t>(i)];
        model
            .node("Concat", {"t" + std::to_string(a), "t" + std::to_string(b)},
                  {"t" + std::to_string(i + 1)})
            .attribute("axis", 0);
      }
      return imported(model);
    };
    const auto sorted = build();
    const auto seed = *rc::gen::arbitrary<unsigned>();
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[(seed * i * 2654435761u >> 7) % i]);
    const auto shuffled = build();
    for (int i = 0; i <= nodes; ++i) {
      const std::string name = "t" + std::to_string(i);
      RC_ASSERT(shape_text(sorted.graph, name) == shape_text(shuffled.graph, name));
    }
  });
}

TEST(NodeOrder, ACycleNamesANodeOnIt) {
  auto model = model_on("x");
  model.output("a");
  model.node("Add", {"x", "b"}, {"a"}).name("first");
  model.node("Relu", {"a"}, {"b"}).name("second");
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("\"first\""), HasSubstr("cycle")));
}

TEST(NodeOrder, AMissingInputNamesNodeAndTensor) {
  auto model = model_on("x");
  model.output("y");
  model.node("Add", {"x", "ghost"}, {"y"}).name("sum");
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("\"sum\""), HasSubstr("\"ghost\"")));
}

TEST(NodeOrder, ATensorThatIsMadeTwiceNamesBothNodes) {
  auto model = model_on("x");
  model.output("y");
  model.node("Relu", {"x"}, {"y"}).name("one");
  model.node("Neg", {"x"}, {"y"}).name("two");
  EXPECT_THAT(message_of(model), AllOf(HasSubstr("\"one\""), HasSubstr("\"two\"")));
}

TEST(NodeOrder, ATensorThatIsAlreadyAnInputCannotBeMade) {
  auto model = model_on("x");
  model.output("x");
  model.node("Relu", {"x"}, {"x"}).name("self");
  EXPECT_THAT(message_of(model), HasSubstr("\"self\""));
}

TEST(NodeOrder, EqualNodeNamesAreAWarning) {
  auto model = model_on("x");
  model.output("b");
  model.node("Relu", {"x"}, {"a"}).name("same");
  model.node("Relu", {"a"}, {"b"}).name("same");
  const auto result = imported(model);
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_THAT(result.warnings.front(), HasSubstr("\"same\""));
}

TEST(NodeOrder, AnOutputThatNothingMakesIsAnError) {
  auto model = model_on("x");
  model.output("nowhere");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(message_of(model), HasSubstr("\"nowhere\""));
}

TEST(NodeOrder, AnEmptyGraphIsAnError) {
  EXPECT_THAT(message_of(model_on("x")), HasSubstr("empty"));
}

TEST(NodeOrder, AnUnknownOperatorSetIsAnError) {
  OnnxBuilder model;
  model.opset(4711).input("x", ElementType::fp32, {1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(message_of(model), HasSubstr("4711"));
  OnnxBuilder none;
  none.input("x", ElementType::fp32, {1}).output("y");
  none.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(message_of(none), HasSubstr("imports no operator set"));
}

}  // namespace
}  // namespace ridgeline::testing
