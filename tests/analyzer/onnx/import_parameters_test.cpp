// Which constants of a file are parameters, and which are tables that no training changes.
#include <gtest/gtest.h>

#include "tests/analyzer/onnx/imported.h"

namespace ridgeline::testing {
namespace {

// Boxes from distances: anchors are subtracted and added, as in detectors.
TEST(ImportParameters, AnchorsAreTables) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 2, 64}).output("y");
  model.initializer("anchors", ElementType::fp32, {1, 2, 64});
  model.node("Sub", {"anchors", "x"}, {"low"});
  model.node("Add", {"anchors", "x"}, {"high"});
  model.node("Concat", {"low", "high"}, {"y"}).attribute("axis", 1);
  const auto result = imported(model);
  EXPECT_TRUE(tensor_named(result.graph, "anchors").is_table);
  EXPECT_FALSE(tensor_named(result.graph, "anchors").is_parameter);
}

TEST(ImportParameters, PositionsThatAreAddedLearn) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 16, 8}).output("y");
  model.initializer("positions", ElementType::fp32, {1, 16, 8});
  model.node("Add", {"x", "positions"}, {"y"});
  const auto result = imported(model);
  EXPECT_TRUE(tensor_named(result.graph, "positions").is_parameter);
  EXPECT_FALSE(tensor_named(result.graph, "positions").is_table);
}

// A grid that the code computed from sizes: the exporter writes it as a Constant node.
TEST(ImportParameters, LiteralsAreTables) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 16, 8}).output("y");
  TensorBuilder grid("grid", ElementType::fp32, {1, 16, 8});
  grid.zeros();
  model.node("Constant", {}, {"positions"}).attribute("value", grid);
  model.node("Add", {"x", "positions"}, {"y"});
  const auto result = imported(model);
  EXPECT_TRUE(tensor_named(result.graph, "positions").is_table);
  EXPECT_FALSE(tensor_named(result.graph, "positions").is_parameter);
}

// Positions at another resolution: the table in the file is the parameter.
TEST(ImportParameters, ATableThatIsResizedAndJoinedLearns) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 8, 4, 5}).output("y");
  model.initializer("table", ElementType::fp32, {1, 8, 2, 3});
  model.initializer("first", ElementType::int64, {2}).ints({0, 1});
  model.initializer("rest", ElementType::int64, {1}).ints({2});
  model.integers("four", {4});
  model.node("Shape", {"x"}, {"start"}).attribute("end", 3);
  model.node("Concat", {"start", "four"}, {"sizes"}).attribute("axis", 0);
  model.node("Gather", {"table", "first"}, {"some"}).attribute("axis", 3);
  model.node("Gather", {"table", "rest"}, {"others"}).attribute("axis", 3);
  model.integers("one", {1});
  model.node("Concat", {"start", "one"}, {"sizes_of_rest"}).attribute("axis", 0);
  model.node("Resize", {"some", "", "", "sizes"}, {"large"});
  model.node("Resize", {"others", "", "", "sizes_of_rest"}, {"larger"});
  model.node("Concat", {"large", "larger"}, {"positions"}).attribute("axis", 3);
  model.node("Add", {"x", "positions"}, {"y"});
  EXPECT_TRUE(tensor_named(imported(model).graph, "table").is_parameter);
}

// What is added to all heads is a mask; the same shape without heads is a table of positions.
TEST(ImportParameters, MasksAreTables) {
  for (const std::int64_t heads : {4, 1}) {
    OnnxBuilder model;
    model.opset(17).input("x", ElementType::fp32, {1, heads, 16, 8}).output("y");
    model.initializer("added", ElementType::fp32, {1, 1, 16, 8});
    model.node("Add", {"x", "added"}, {"y"});
    EXPECT_EQ(tensor_named(imported(model).graph, "added").is_table, heads > 1);
  }
}

// A product's weight stays a parameter, whatever else reads it.
TEST(ImportParameters, WeightsOfProductsLearn) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {8, 8}).output("y");
  model.initializer("w", ElementType::fp32, {8, 8});
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Sub", {"p", "w"}, {"y"});
  EXPECT_TRUE(tensor_named(imported(model).graph, "w").is_parameter);
}

}  // namespace
}  // namespace ridgeline::testing
