// Reading well-formed models: every message that counting needs.
// Malformed ones are in malformed_test.cpp, elements in tensor_data_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/onnx/model_file.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

using onnx::ModelFile;
using onnx::TypeKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelFile read(const OnnxBuilder& model) { return {model.bytes(), "model.onnx"}; }

TEST(Reader, ModelAndOpsets) {
  OnnxBuilder model;
  model.ir_version(10).opset(21, "ai.onnx").opset(1, "com.microsoft").producer("pytorch", "2.9");
  const ModelFile file = read(model);
  EXPECT_EQ(file.model().ir_version, 10);
  EXPECT_EQ(file.model().producer, "pytorch");
  EXPECT_EQ(file.model().producer_version, "2.9");
  ASSERT_EQ(file.model().opsets.size(), 2U);
  EXPECT_EQ(file.model().opsets[0].domain, "");
  EXPECT_EQ(file.model().opsets[0].version, 21);
  EXPECT_EQ(file.model().opsets[1].domain, "com.microsoft");
  EXPECT_THAT(file.model().warnings, IsEmpty());
  EXPECT_EQ(file.path(), "model.onnx");
  EXPECT_EQ(file.bytes(), model.bytes().size());
}

TEST(Reader, InputsWithNumbersSymbolsAndNeither) {
  OnnxBuilder model;
  model.input("x", ElementType::fp16, {1, "height", Dim{}, -1, 0});
  const ModelFile file = read(model);
  const onnx::ValueInfo& x = file.model().graph.inputs[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type.kind, TypeKind::tensor);
  EXPECT_EQ(x.type.element, ElementType::fp16);
  ASSERT_TRUE(x.type.dims);
  const auto& dims = *x.type.dims;
  ASSERT_EQ(dims.size(), 5U);
  EXPECT_EQ(dims[0].value, 1);
  EXPECT_EQ(dims[1].value, std::nullopt);
  EXPECT_EQ(dims[1].symbol, "height");
  EXPECT_EQ(dims[2].value, std::nullopt);
  EXPECT_EQ(dims[3].value, -1) << "as the file has it; some exporters mean a free dimension";
  EXPECT_EQ(dims[4].value, 0);
}

TEST(Reader, TypesOfValues) {
  const ValueType tensor = ValueType::tensor(ElementType::int64, {2, "n"});
  OnnxBuilder model;
  model.input("ranked", tensor)
      .input("unranked", ValueType::tensor_of_any_rank(ElementType::fp32))
      .input("sparse", ValueType::sparse_tensor(ElementType::fp32, {4}))
      .input("sequence", ValueType::sequence(tensor))
      .input("optional", ValueType::optional(tensor))
      .input("optional sequence", ValueType::optional(ValueType::sequence(tensor)))
      .input("map", ValueType::map(ElementType::string, tensor))
      .input("untyped", ValueType::absent());
  const ModelFile file = read(model);
  const auto& inputs = file.model().graph.inputs;
  EXPECT_EQ(inputs[1].type.kind, TypeKind::tensor);
  EXPECT_FALSE(inputs[1].type.dims);
  EXPECT_EQ(inputs[2].type.kind, TypeKind::sparse_tensor);
  EXPECT_EQ(inputs[3].type.kind, TypeKind::sequence);
  EXPECT_EQ(inputs[4].type.kind, TypeKind::optional);
  EXPECT_EQ(inputs[5].type.kind, TypeKind::sequence);
  EXPECT_EQ(inputs[6].type.kind, TypeKind::map);
  EXPECT_EQ(inputs[7].type.kind, TypeKind::absent);
  for (const std::size_t i : {0U, 3U, 4U, 5U}) {
    EXPECT_EQ(inputs[i].type.element, ElementType::int64) << inputs[i].name;
    ASSERT_TRUE(inputs[i].type.dims) << inputs[i].name;
    EXPECT_EQ((*inputs[i].type.dims)[0].value, 2) << inputs[i].name;
  }
}

TEST(Reader, NodesAndAttributes) {
  OnnxBuilder model;
  model.node("Conv", {"x", "", "b"}, {"y", ""})
      .name("first")
      .domain("com.example")
      .overload("fast")
      .attribute("group", 4)
      .attribute("alpha", 0.25)
      .attribute("auto_pad", "VALID")
      .attribute("pads", {1, -1})
      .attribute("scales", {0.5, 2.0})
      .attribute("names", {"a", "bc"})
      .attribute("value", TensorBuilder("t", ElementType::int64, {1}).ints({7}))
      .attribute_reference("axis", "outer_axis", 2);
  const ModelFile file = read(model);
  const onnx::Node& node = file.model().graph.nodes[0];
  EXPECT_EQ(node.name, "first");
  EXPECT_EQ(node.op_type, "Conv");
  EXPECT_EQ(node.domain, "com.example");
  EXPECT_EQ(node.overload, "fast");
  EXPECT_THAT(node.inputs, ElementsAre("x", "", "b"));
  EXPECT_THAT(node.outputs, ElementsAre("y", ""));
  const auto& attributes = node.attributes;
  ASSERT_EQ(attributes.size(), 8U);
  EXPECT_EQ(attributes[0].name, "group");
  EXPECT_EQ(attributes[0].type, 2);
  EXPECT_EQ(attributes[0].i, 4);
  EXPECT_EQ(attributes[1].f, 0.25F);
  EXPECT_EQ(attributes[2].s, "VALID");
  EXPECT_THAT(attributes[3].ints, ElementsAre(1, -1));
  EXPECT_THAT(attributes[4].floats, ElementsAre(0.5F, 2.0F));
  EXPECT_THAT(attributes[5].strings, ElementsAre("a", "bc"));
  ASSERT_TRUE(attributes[6].tensor);
  EXPECT_THAT(attributes[6].tensor->dims, ElementsAre(1));
  EXPECT_EQ(attributes[7].reference, "outer_axis");
}

TEST(Reader, SubGraphs) {
  GraphBuilder inner;
  inner.graph_name("inner").node("Identity", {"x"}, {"inner_y"});
  inner.initializer("w", ElementType::int8, {2}).zeros();
  OnnxBuilder model;
  model.node("If", {"c"}, {"y"}).attribute("then_branch", inner);
  model.node("Switch", {"c"}, {"z"}).attribute("cases", std::vector<GraphBuilder>{inner, inner});
  const ModelFile file = read(model);
  const auto& nodes = file.model().graph.nodes;
  ASSERT_NE(nodes[0].attributes[0].graph, nullptr);
  const onnx::GraphProto& graph = *nodes[0].attributes[0].graph;
  EXPECT_EQ(graph.name, "inner");
  EXPECT_EQ(graph.nodes[0].op_type, "Identity");
  EXPECT_EQ(graph.initializers[0].name, "w");
  EXPECT_EQ(nodes[1].attributes[0].graphs.size(), 2U);
}

TEST(Reader, Functions) {
  OnnxBuilder model;
  model.function("my.domain", "Twice", {"x"}, {"y"})
      .overload("v2")
      .attribute("axis")
      .attribute_default("keep", 1)
      .opset(18)
      .node("Add", {"x", "x"}, {"y"});
  const ModelFile file = read(model);
  const onnx::FunctionProto& function = file.model().functions.at(0);
  EXPECT_EQ(function.domain, "my.domain");
  EXPECT_EQ(function.name, "Twice");
  EXPECT_EQ(function.overload, "v2");
  EXPECT_THAT(function.inputs, ElementsAre("x"));
  EXPECT_THAT(function.outputs, ElementsAre("y"));
  EXPECT_THAT(function.attributes, ElementsAre("axis"));
  ASSERT_EQ(function.attribute_defaults.size(), 1U);
  EXPECT_EQ(function.attribute_defaults[0].i, 1);
  ASSERT_EQ(function.opsets.size(), 1U);
  EXPECT_EQ(function.opsets[0].version, 18);
  EXPECT_EQ(function.nodes[0].op_type, "Add");
}

TEST(Reader, SparseInitializersKnowWhatIsStored) {
  OnnxBuilder model;
  model.sparse_initializer(sparse_tensor(TensorBuilder("w", ElementType::fp32, {3}).zeros(),
                                         TensorBuilder("", ElementType::int64, {3}).zeros(),
                                         {100, 200}));
  const ModelFile file = read(model);
  const onnx::TensorProto& w = file.model().graph.initializers[0];
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.type, ElementType::fp32);
  EXPECT_THAT(w.dims, ElementsAre(100, 200));
  EXPECT_EQ(w.stored_bytes, 3 * 4 + 3 * 8);
  EXPECT_FALSE(file.contents(w));
}

TEST(Reader, UnknownElementTypesAreUnknown) {
  OnnxBuilder model;
  model.initializer("w", ElementType::fp32, {1000}).data_type(99).raw_data("abc");
  const ModelFile file = read(model);
  EXPECT_EQ(file.model().graph.initializers[0].type, ElementType::unknown);
  EXPECT_FALSE(file.contents(file.model().graph.initializers[0]));
}

TEST(Reader, ModelsWithoutWeightsAreRead) {
  OnnxBuilder model;
  model.initializer("none", ElementType::fp32, {64, 3, 7, 7});
  model.initializer("empty", ElementType::fp32, {64}).raw_data("");
  const ModelFile file = read(model);
  EXPECT_THAT(file.model().graph.initializers[0].dims, ElementsAre(64, 3, 7, 7));
  EXPECT_FALSE(file.contents(file.model().graph.initializers[1]));
}

TEST(Reader, IrVersionsThatNobodyKnowsAreWarnings) {
  OnnxBuilder none, future;
  none.ir_version(0);
  future.ir_version(1000);
  EXPECT_THAT(read(none).model().warnings, ElementsAre("the file states no IR version"));
  EXPECT_THAT(read(future).model().warnings, ElementsAre(HasSubstr("IR version 1000 is newer")));
}

TEST(Reader, SurvivesAMove) {
  OnnxBuilder model;
  model.node("Relu", {"a name that is longer than what a string keeps inside"}, {"y"});
  ModelFile first = read(model);
  ModelFile second = std::move(first);
  EXPECT_EQ(second.model().graph.nodes[0].inputs[0],
            "a name that is longer than what a string keeps inside");
}

}  // namespace
}  // namespace ridgeline::testing
