// If, Loop and Scan: trip counts, branches, what is counted and what is an alternative.
// Shapes inside follow the ordinary rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

GraphBuilder branch(const std::string& op, int times) {
  GraphBuilder graph;
  std::string from = "x";
  for (int i = 0; i < times; ++i) {
    const std::string to = op + std::to_string(i);
    graph.node(op, {from}, {to}).name(to);
    from = to;
  }
  graph.output(from);
  return graph;
}

OnnxBuilder if_model() {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {4, 5}).output("y");
  return model;
}

TEST(If, CountsTheLargerBranchWhereTheConditionIsData) {
  auto model = if_model();
  model.input("c", ElementType::boolean, {});
  model.node("If", {"c"}, {"y"})
      .name("choice")
      .attribute("then_branch", branch("Relu", 1))
      .attribute("else_branch", branch("Neg", 3));
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "choice/then/Relu0").standing, Standing::alternative);
  EXPECT_EQ(layer_named(result.graph, "choice/else/Neg2").standing, Standing::counted);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("depends on data")));
  EXPECT_EQ(result.graph.tensors[result.graph.outputs.front()].name, "y");
  for (const Tensor& tensor : result.graph.tensors)
    EXPECT_NE(tensor.source, ShapeSource::unknown) << tensor.name;

  const auto chosen = imported(model, {.branch = onnx::Branch::then_branch});
  EXPECT_EQ(layer_named(chosen.graph, "choice/then/Relu0").standing, Standing::counted);
  EXPECT_EQ(layer_named(chosen.graph, "choice/else/Neg0").standing, Standing::alternative);
}

TEST(If, FollowsAKnownCondition) {
  auto model = if_model();
  model.initializer("c", ElementType::boolean, {}).ints({1});
  model.node("If", {"c"}, {"y"})
      .name("choice")
      .attribute("then_branch", branch("Relu", 1))
      .attribute("else_branch", branch("Neg", 3));
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "choice/then/Relu0").standing, Standing::counted);
  EXPECT_EQ(layer_named(result.graph, "choice/else/Neg0").standing, Standing::alternative);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(If, WhatADeadBranchDoesNotKnowIsOfNoConcern) {
  auto model = if_model();
  model.initializer("c", ElementType::boolean, {}).ints({0});
  GraphBuilder odd;
  odd.node("Mystery", {"x"}, {"m"}).name("m");
  odd.output("m");
  model.node("If", {"c"}, {"y"})
      .name("choice")
      .attribute("then_branch", odd)
      .attribute("else_branch", branch("Relu", 1));
  const Graph graph = imported(model).graph;
  EXPECT_EQ(layer_named(graph, "choice/then/m").standing, Standing::alternative);
  EXPECT_EQ(unknown_layers(graph), 1u);
}

TEST(If, ABranchThatDoesNotFitTheShapesIsNotCounted) {
  auto model = if_model();
  model.input("c", ElementType::boolean, {});
  GraphBuilder odd;
  odd.integers("axes", {0});
  odd.node("Squeeze", {"x", "axes"}, {"s"});
  odd.output("s");
  model.node("If", {"c"}, {"y"})
      .attribute("then_branch", odd)
      .attribute("else_branch", branch("Relu", 1));
  const auto result = imported(model);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("does not fit")));
  EXPECT_EQ(result.graph.tensors[result.graph.outputs.front()].shape, (Shape{4, 5}));
}

// A body that applies Relu to its state and scans it out.
GraphBuilder loop_body() {
  GraphBuilder body;
  body.input("i", ElementType::int64, {})
      .input("go", ElementType::boolean, {})
      .input("s", ElementType::fp32, {4});
  body.node("Identity", {"go"}, {"go_on"});
  body.node("Relu", {"s"}, {"t"}).name("relu");
  body.node("Identity", {"t"}, {"scanned"});
  body.output("go_on").output("t").output("scanned");
  return body;
}

OnnxBuilder loop_model(const GraphBuilder& body) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {4}).output("final").output("all");
  model.initializer("true", ElementType::boolean, {}).ints({1});
  model.node("Loop", {"trips", "true", "x"}, {"final", "all"}).name("loop").attribute("body", body);
  return model;
}

TEST(Loop, CountsTheBodyTimesItsTrips) {
  auto model = loop_model(loop_body());
  model.initializer("trips", ElementType::int64, {}).ints({7});
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "loop/relu").repeats, 7);
  EXPECT_EQ(shape_text(result.graph, "all"), "7x4");
  EXPECT_EQ(tensor_named(result.graph, "all").source, ShapeSource::fixed);
  EXPECT_TRUE(result.warnings.empty());
}

TEST(Loop, TripsThatDependOnDataAreSaidSoAndCanBeGiven) {
  auto model = loop_model(loop_body());
  model.input("trips", ElementType::int64, {});
  const auto once = imported(model);
  EXPECT_EQ(layer_named(once.graph, "loop/relu").repeats, 1);
  EXPECT_THAT(once.warnings, Contains(HasSubstr("--trips")));
  EXPECT_EQ(tensor_named(once.graph, "all").source, ShapeSource::bound);

  const auto given = imported(model, {.trips = {{"loop", 5}}});
  EXPECT_EQ(layer_named(given.graph, "loop/relu").repeats, 5);
  EXPECT_EQ(shape_text(given.graph, "all"), "5x4");
  EXPECT_TRUE(given.warnings.empty());
}

TEST(Loop, WithoutTripsTheStateIsWhatItWas) {
  auto model = loop_model(loop_body());
  model.initializer("trips", ElementType::int64, {}).ints({0});
  const auto result = imported(model);
  EXPECT_EQ(result.graph.tensors[result.graph.outputs.front()].name, "x");
  EXPECT_EQ(layer_named(result.graph, "loop/relu").repeats, 0);
}

TEST(Loop, AConditionFromDataMakesTheTripsABound) {
  GraphBuilder body;
  body.input("i", ElementType::int64, {})
      .input("go", ElementType::boolean, {})
      .input("s", ElementType::fp32, {4});
  body.node("ReduceMax", {"s"}, {"m"}).attribute("keepdims", 0);
  body.node("Cast", {"m"}, {"go_on"}).attribute("to", 9);
  body.node("Relu", {"s"}, {"t"}).name("relu");
  body.output("go_on").output("t").output("t");
  auto model = loop_model(body);
  model.initializer("trips", ElementType::int64, {}).ints({7});
  EXPECT_THAT(imported(model).warnings, Contains(HasSubstr("most trips, 7")));
}

TEST(Loop, AStateThatGrowsIsWalkedTripByTrip) {
  GraphBuilder body;
  body.input("i", ElementType::int64, {})
      .input("go", ElementType::boolean, {})
      .input("s", ElementType::fp32, {4});
  body.node("Identity", {"go"}, {"go_on"});
  body.node("Concat", {"s", "x"}, {"t"}).name("grow").attribute("axis", 0);
  body.node("ReduceMax", {"t"}, {"m"});
  body.output("go_on").output("t").output("m");
  auto model = loop_model(body);
  model.initializer("trips", ElementType::int64, {}).ints({3});
  const auto result = imported(model);
  EXPECT_EQ(result.graph.tensors[result.graph.outputs.front()].shape, (Shape{16}));
  int rows = 0;
  for (const Layer& layer : result.graph.layers) rows += layer.name == "loop/grow";
  EXPECT_EQ(rows, 3);
}

TEST(Loop, NestedTripsMultiply) {
  GraphBuilder inner = loop_body();
  GraphBuilder outer;
  outer.input("j", ElementType::int64, {})
      .input("go_outer", ElementType::boolean, {})
      .input("u", ElementType::fp32, {4});
  outer.node("Identity", {"go_outer"}, {"go_on_outer"});
  outer.node("Loop", {"trips", "true", "u"}, {"v", "w"}).name("inner").attribute("body", inner);
  outer.output("go_on_outer").output("v").output("w");
  auto model = loop_model(outer);
  model.initializer("trips", ElementType::int64, {}).ints({6});
  EXPECT_EQ(layer_named(imported(model).graph, "loop/inner/relu").repeats, 36);
}

TEST(Scan, TakesItsTripsFromTheScannedAxis) {
  GraphBuilder body;
  body.input("sum_in", ElementType::fp32, {3}).input("row", ElementType::fp32, {3});
  body.node("Add", {"sum_in", "row"}, {"sum_out"}).name("add");
  body.node("Identity", {"sum_out"}, {"scan_out"});
  body.output("sum_out").output("scan_out");
  OnnxBuilder model;
  model.opset(17)
      .input("initial", ElementType::fp32, {3})
      .input("x", ElementType::fp32, {3, 9})
      .output("y")
      .output("z");
  model.node("Scan", {"initial", "x"}, {"y", "z"})
      .name("scan")
      .attribute("num_scan_inputs", 1)
      .attribute("scan_input_axes", {1})
      .attribute("scan_output_axes", {-1})
      .attribute("body", body);
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "scan/add").repeats, 9);
  EXPECT_EQ(shape_text(result.graph, "z"), "3x9");
}

TEST(Scan, VersionEightHasABatchInFront) {
  GraphBuilder body;
  body.input("sum_in", ElementType::fp32, {2}).input("row", ElementType::fp32, {2});
  body.node("Add", {"sum_in", "row"}, {"sum_out"}).name("add");
  body.node("Identity", {"sum_out"}, {"scan_out"});
  body.output("sum_out").output("scan_out");
  OnnxBuilder model;
  model.opset(8)
      .input("initial", ElementType::fp32, {5, 2})
      .input("x", ElementType::fp32, {5, 3, 2})
      .output("y")
      .output("z");
  model.node("Scan", {"", "initial", "x"}, {"y", "z"})
      .name("scan")
      .attribute("num_scan_inputs", 1)
      .attribute("body", body);
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "scan/add").repeats, 15);
  EXPECT_EQ(shape_text(result.graph, "y"), "5x2");
  EXPECT_EQ(shape_text(result.graph, "z"), "5x3x2");
}

// The body counts up to a constant, as exporters write a `for` over a fixed range.
TEST(Loop, ACounterIsFollowedToItsEnd) {
  GraphBuilder body;
  body.input("i", ElementType::int64, {1}).input("c", ElementType::boolean, {});
  body.input("n", ElementType::int64, {}).input("v", ElementType::fp32, {4});
  body.node("Add", {"n", "one"}, {"next"});
  body.node("Less", {"next", "limit"}, {"again"});
  body.node("Relu", {"v"}, {"w"}).name("work");
  body.output("again").output("next").output("w");
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {4}).output("y");
  model.initializer("one", ElementType::int64, {}).ints({1});
  model.initializer("zero", ElementType::int64, {}).ints({0});
  model.initializer("limit", ElementType::int64, {}).ints({7});
  model.initializer("yes", ElementType::boolean, {}).ints({1});
  model.node("Loop", {"", "yes", "zero", "x"}, {"count", "y"}).name("loop").attribute("body", body);
  const auto result = imported(model);
  EXPECT_EQ(layer_named(result.graph, "loop/work").repeats, 7);
  EXPECT_TRUE(result.warnings.empty());
}

// nn.EmbeddingBag as torch's dynamo exporter writes it: a counter over the bags, rows between two
// offsets summed, the sums kept in a sequence.
OnnxBuilder embedding_bag() {
  GraphBuilder body;
  body.input("i", ElementType::int64, {}).input("c", ElementType::boolean, {});
  body.input("bags", ElementType::fp32, {}).input("n", ElementType::int64, {});
  body.node("Reshape", {"n", "minus_one"}, {"at"});
  body.node("Add", {"at", "one"}, {"after"});
  body.node("Add", {"at", "two"}, {"beyond"});
  body.node("Slice", {"offsets", "at", "after"}, {"start"}).name("start");
  body.node("Slice", {"offsets", "after", "beyond"}, {"end"});
  body.node("Slice", {"rows", "start", "end"}, {"bag"});
  body.node("ReduceSum", {"bag", "axis"}, {"sum"}).name("sum");
  body.node("SequenceInsert", {"bags", "sum"}, {"more"});
  body.node("Add", {"n", "step"}, {"next"});
  body.node("Less", {"next", "limit"}, {"again"});
  body.output("again").output("more").output("next");
  OnnxBuilder model;
  model.opset(17).input("rows", ElementType::fp32, {20, 16}).output("y");
  model.input("offsets", ElementType::int64, {5});
  const auto number = [&](const char* name, const std::vector<std::int64_t>& dims,
                          std::int64_t value) {
    model.initializer(name, ElementType::int64, dims).ints({value});
  };
  number("minus_one", {1}, -1), number("one", {1}, 1), number("two", {1}, 2);
  number("axis", {1}, 0), number("zero", {}, 0), number("step", {}, 1), number("limit", {}, 4);
  model.initializer("yes", ElementType::boolean, {}).ints({1});
  model.node("SequenceEmpty", {}, {"none"});
  model.node("Loop", {"", "yes", "none", "zero"}, {"all", "count"})
      .name("loop")
      .attribute("body", body);
  model.node("ConcatFromSequence", {"all"}, {"y"}).attribute("axis", 0);
  return model;
}

TEST(Loop, ACounterThatSlicesIsKnownInItsBody) {
  const auto result = imported(embedding_bag());
  EXPECT_EQ(layer_named(result.graph, "loop/start").repeats, 4);
  EXPECT_EQ(shape_text(result.graph, "start"), "1");
  EXPECT_EQ(shape_text(result.graph, "sum"), "1x16");
  EXPECT_EQ(shape_text(result.graph, "y"), "4x16");
}

TEST(Loop, TripsOfDifferentWorkAreWalkedOneByOne) {
  onnx::ImportOptions options;
  options.values["offsets"] = {0, 4, 9, 15, 20};
  const auto result = imported(embedding_bag(), options);
  std::int64_t summed = 0;
  for (const Layer& layer : result.graph.layers)
    if (layer.name == "loop/sum") {
      EXPECT_EQ(layer.repeats, 1);
      summed += std::get<Reduce>(layer.parts.front().op).in_elements;
    }
  EXPECT_EQ(summed, 20 * 16);
  EXPECT_EQ(shape_text(result.graph, "y"), "4x16");
}

}  // namespace
}  // namespace ridgeline::testing
