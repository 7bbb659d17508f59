// The graph for Graphviz: edges by the last writer of a name, rows without work looked through, and
// names from files that cannot break out of their quotes.
#include "report/network_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace ridgeline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor tensor_named(const std::string& name) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = ElementType::fp16;
  tensor.shape = {1, 8};
  tensor.source = ShapeSource::fixed;
  return tensor;
}

AnalysisRow row_named(const std::string& name, std::span<const Tensor* const> inputs,
                      std::span<const Tensor* const> outputs,
                      ComputeClass compute_class = ComputeClass::matrix) {
  AnalysisRow row;
  row.name = name;
  row.op = "Conv";
  row.dtype = "fp16";
  row.compute_class = compute_class;
  row.inputs = inputs;
  row.outputs = outputs;
  return row;
}

TEST(NetworkGraph, EdgesGoFromTheLastWriterPastRowsWithoutWork) {
  const Tensor x = tensor_named("x"), y = tensor_named("y"), z = tensor_named("z");
  const std::array<const Tensor*, 1> xs = {&x}, ys = {&y}, zs = {&z};
  Analysis analysis;
  analysis.rows = {row_named("first", zs, xs), row_named("second", xs, xs),
                   row_named("view", xs, ys, ComputeClass::none), row_named("third", ys, zs)};
  analysis.rows[3].time_s = 12.5e-6;
  const std::string text = network_dot(analysis, false);
  EXPECT_THAT(text, HasSubstr("n0 -> n1 [label=\"fp16 1x8\"]"));
  EXPECT_THAT(text, HasSubstr("n1 -> n3 "));
  EXPECT_THAT(text, Not(HasSubstr("n2")));
  EXPECT_THAT(text, HasSubstr("12.5 µs"));
  const std::string all = network_dot(analysis, true);
  EXPECT_THAT(all, HasSubstr("n1 -> n2 "));
  EXPECT_THAT(all, HasSubstr("n2 -> n3 "));
}

TEST(NetworkGraph, NamesStayWithinTheirQuotes) {
  Analysis analysis;
  analysis.model.path = "a\"b";
  analysis.rows = {row_named("c\\\"d\n\x1b[1m", {}, {})};
  const std::string text = network_dot(analysis, false);
  EXPECT_THAT(text, HasSubstr("digraph \"a\\\"b\" {"));
  EXPECT_THAT(text, HasSubstr("label=\"c\\\\\\\"d "));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ridgeline
