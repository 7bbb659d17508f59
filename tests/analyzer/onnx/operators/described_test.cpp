// Operators described by formulas: shapes, work and bytes of a node, and faults that name file,
// operator, column and place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analyzer/count/count.h"
#include "analyzer/graph/operator_description.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/analyzer/onnx/imported.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<OperatorDescription> described(const std::string& operators) {
  const Json document =
      parse_json(R"({"schema": "ridgeline.operators/1", "operators": [)" + operators + "]}", "ops");
  return operators_from_json(file_cursor(document, "my-ops.json"));
}

std::string fault(const std::string& operators) {
  try {
    described(operators);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// One node my.Odd(x 2x3x4 fp16, w 4x5 fp16) → y, with an integer attribute.
OnnxBuilder odd(bool declares_output = false) {
  OnnxBuilder model;
  model.opset(17).opset(1, "my").input("x", ElementType::fp16, {2, 3, 4});
  model.initializer("w", ElementType::fp16, {4, 5});
  model.node("Odd", {"x", "w"}, {"y"}).domain("my").name("odd").attribute("heads", 3);
  if (declares_output)
    model.output("y", ElementType::fp16, {2, 3, 5});
  else
    model.output("y");
  return model;
}

Work work_of(const OnnxBuilder& model, const std::string& operators) {
  onnx::ImportOptions options;
  options.operators = described(operators);
  const auto result = imported(model, options);
  EXPECT_EQ(unknown_layers(result.graph), 0U);
  return count_layer(result.graph, layer_named(result.graph, "odd"), default_weights());
}

std::string node_fault(const std::string& operators, const OnnxBuilder& model = odd()) {
  try {
    work_of(model, operators);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(DescribedOperator, CountsByItsFormulas) {
  onnx::ImportOptions options;
  options.operators = described(R"({"name": "my.Odd",
      "outputs": [{"shape": ["in0[0]", "in0[1]", "in1[-1]"], "type": "fp32"}],
      "macs": "in0.elements * in1[1]", "flops": "attr.heads * out0.elements"})");
  const auto result = imported(odd(), options);
  EXPECT_EQ(shape_text(result.graph, "y"), "2x3x5");
  EXPECT_EQ(tensor_named(result.graph, "y").type, ElementType::fp32);
  const Work work = count_layer(result.graph, layer_named(result.graph, "odd"), default_weights());
  EXPECT_EQ(work.macs, 24 * 5);
  EXPECT_EQ(total_flop(work), 2 * 24 * 5 + 3 * 30);
  EXPECT_EQ(work.bytes_read, 2 * 24);
  EXPECT_EQ(work.weight_bytes_read, 2 * 20);
  EXPECT_EQ(work.bytes_written, 4 * 30);
}

TEST(DescribedOperator, MovesWhatItsFormulasSay) {
  const Work work = work_of(odd(), R"({"name": "my.Odd", "outputs": [{"shape": "in0"}],
      "flops": 0, "reads": ["2 * in0.elements", 0], "writes": ["out0.elements / 5"]})");
  EXPECT_EQ(work.bytes_read, 2 * 48);
  EXPECT_EQ(work.weight_bytes_read, 0);
  EXPECT_EQ(work.bytes_written, 2 * 5);  // 24 / 5 elements, rounded up
  EXPECT_EQ(total_flop(work), 0);
}

TEST(DescribedOperator, TakesDeclaredShapesAndDefaultsOfAttributes) {
  const Work work = work_of(odd(true), R"({"name": "my.Odd", "attributes": {"taps": 9, "heads": 1},
      "flops": "attr.taps * attr.heads * out0.elements"})");
  EXPECT_EQ(total_flop(work), 9 * 3 * 30);
  onnx::ImportOptions options;
  options.operators = described(R"({"name": "my.Odd", "flops": 1})");
  const auto result = imported(odd(), options);
  EXPECT_EQ(unknown_layers(result.graph), 1U);  // no shape from anywhere
}

TEST(DescribedOperator, ReplacesABuiltInRule) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {6}).output("y");
  model.node("Relu", {"x"}, {"y"}).name("odd");
  EXPECT_EQ(total_flop(work_of(model, R"({"name": "Relu", "outputs": [{"shape": "in0"}],
      "flops": "10 * in0.elements"})")),
            60);
}

TEST(DescribedOperator, AFormulaFaultNamesFileOperatorAndColumn) {
  EXPECT_THAT(fault(R"({"name": "my.Odd", "flops": "2 * in0.size"})"),
              HasSubstr("my-ops.json: operators[0].flops: operator my.Odd: \"2 * in0.size\" at "
                        "character 5: \"in0.size\" is not known (known are in0[1]"));
  EXPECT_THAT(fault(R"({"name": "my.Odd", "macs": "(1 + 2"})"),
              HasSubstr("operators[0].macs: operator my.Odd: \"(1 + 2\" at character 7: "));
  EXPECT_THAT(fault(R"({"name": "my.Odd", "flops": 1, "outputs": [{"shape": ["out0[0]"]}]})"),
              HasSubstr("operators[0].outputs[0].shape[0]: operator my.Odd"));
  EXPECT_THAT(fault(R"({"name": "my.Odd", "flops": 1, "reads": ["in0"]})"),
              HasSubstr("operators[0].reads[0]"));
}

TEST(DescribedOperator, TheFileIsChecked) {
  EXPECT_THAT(fault(R"({"name": "my.Odd"})"), HasSubstr("neither macs nor flops"));
  EXPECT_THAT(fault(R"({"flops": 1})"), HasSubstr("name"));
  EXPECT_THAT(fault(R"({"name": "a", "flop": 1})"), HasSubstr("unknown name, known are name"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": 1}, {"name": "a", "flops": 1})"),
              HasSubstr("described twice"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": -1})"), HasSubstr("operators[0].flops"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": true})"), HasSubstr("operators[0].flops"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": 1, "outputs": [{"shape": "x"}]})"),
              HasSubstr("neither a list of sizes nor an input"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": 1, "outputs": [{"type": "fp32"}]})"),
              HasSubstr("shape"));
  EXPECT_THAT(fault(R"({"name": "a", "flops": ")" + std::string(3000, '1') + "\"}"),
              HasSubstr("more than 2000 characters"));
  EXPECT_THAT(fault(""), HasSubstr("describes no operator"));
}

TEST(DescribedOperator, AFaultAtANodeNamesTheNode) {
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": "in0"}],
      "flops": "attr.groups"})"),
              HasSubstr("my-ops.json: operators[0].flops: operator my.Odd: node \"odd\" (my.Odd): "
                        "\"attr.groups\" at character 1: \"attr.groups\" has no value: the node "
                        "has no such attribute"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": "in0"}],
      "flops": "in0[5]"})"),
              HasSubstr("its shape is 2x3x4"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": ["in0[0] / 4"]}],
      "flops": 0})"),
              HasSubstr("gives 0.5, which is no whole number"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": ["in0[0] - 4"]}],
      "flops": 0})"),
              HasSubstr("negative"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": ["10 ** 12", "10 ** 12"]}],
      "flops": 0})"),
              HasSubstr("too large"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": "in0"}],
      "flops": "1 / (in0[0] - 2) + 1"
})"),
              HasSubstr("a division by zero"));
  EXPECT_THAT(node_fault(R"({"name": "my.Odd", "outputs": [{"shape": "in0"}],
      "flops": "10 ** 40"})"),
              HasSubstr("too large"));
}

TEST(DescribedOperator, TheExampleOfTheDocsIsValid) {
  const Json example = read_json_file(source_file("docs/operators.json"));
  EXPECT_THAT(schema_violations(example, "operators.schema.json"), IsEmpty());
  const auto operators = operators_from_json(file_cursor(example, "operators.json"));
  ASSERT_EQ(operators.size(), 2U);
  OnnxBuilder model;
  model.opset(17).opset(1, "com.acme").input("x", ElementType::fp32, {8, 64}).output("y");
  model.initializer("a", ElementType::fp32, {64, 4});
  model.initializer("b", ElementType::fp32, {4, 32});
  model.node("LowRankLinear", {"x", "a", "b"}, {"y"}).domain("com.acme").name("odd");
  onnx::ImportOptions options;
  options.operators = operators;
  const auto result = imported(model, options);
  EXPECT_EQ(shape_text(result.graph, "y"), "8x32");
  EXPECT_EQ(count_layer(result.graph, layer_named(result.graph, "odd"), default_weights()).macs,
            8 * 64 * 4 + 8 * 4 * 32);
}

}  // namespace
}  // namespace ridgeline::testing
