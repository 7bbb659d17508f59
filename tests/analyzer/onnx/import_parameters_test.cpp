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
