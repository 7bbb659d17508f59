// Analyses of whole networks: known counts, sums, batch linearity, and the JSON form.
// Single rules are in count_test.cpp, public model files in corpus_test.cpp.
#include "analyzer/analysis/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>

#include "analyzer/analysis/groups.h"
#include "base/json.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/onnx/imported.h"
#include "tests/analyzer/written_json.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Analysis analyzed(const OnnxBuilder& model, const onnx::ImportOptions& options = {}) {
  const onnx::Import import = imported(model, options);
  Analysis analysis = analyze(import.graph);
  analysis.batch = import.batch;
  analysis.model = {"model.onnx", "onnx", import.producer, import.ir_version, import.opsets, 1};
  return analysis;
}

Analysis at_batch(const OnnxBuilder& model, std::int64_t batch) {
  onnx::ImportOptions options;
  options.batch = batch;
  return analyzed(model, options);
}

const AnalysisRow& row_named(const Analysis& analysis, const std::string& name) {
  for (const AnalysisRow& row : analysis.rows)
    if (row.name == name) return row;
  ADD_FAILURE() << "no row has the name " << name;
  static const AnalysisRow none;
  return none;
}

TEST(Analysis, ResNet50) {
  const Analysis analysis = at_batch(resnet50(), 1);
  EXPECT_EQ(analysis.totals.work.macs, 4089184256);
  // Convolution and linear weights; biases of the convolutions, from folded normalisations; 1000
  // biases of the last layer.
  EXPECT_EQ(analysis.totals.params, 25502912 + 26560 + 1000);
  EXPECT_EQ(analysis.totals.parameter_bytes, 4 * analysis.totals.params);
  EXPECT_EQ(analysis.totals.work.weight_bytes_read, 4 * analysis.totals.params);
  EXPECT_EQ(analysis.batch, 1);
  EXPECT_THAT(analysis.unknown, IsEmpty());
  EXPECT_THAT(analysis.warnings, IsEmpty());
  const AnalysisRow& first = analysis.rows.front();
  EXPECT_EQ(first.op, "Conv");
  EXPECT_EQ(first.compute_class, ComputeClass::matrix);
  EXPECT_EQ(first.dtype, "fp32");
  EXPECT_EQ(first.work.macs, 118013952);
  EXPECT_EQ(total_flop(first.work), 2 * 118013952 + 802816);
}

TEST(Analysis, MobileNetV3Large) {
  const Analysis analysis = at_batch(mobilenet_v3_large(), 1);
  EXPECT_EQ(analysis.totals.work.macs, 216589760);
}

TEST(Analysis, BertLayer) {
  const double length = 128, width = 768;
  const Analysis analysis = at_batch(bert_layer(128, 768, 12), 1);
  EXPECT_EQ(analysis.totals.work.macs,
            12 * length * width * width + 2 * length * length * width + width * width);
}

TEST(Analysis, LstmOverEightWords) {
  onnx::ImportOptions options;
  options.dims = {{"batch", 1}, {"sequence", 8}};
  const Analysis analysis = analyzed(lstm_word_model(), options);
  double recurrent = 0;
  for (const AnalysisRow& row : analysis.rows)
    if (row.op == "LSTM") recurrent += row.work.macs;
  EXPECT_EQ(recurrent, 8388608);
  // Eight rows of the table, not all 29,423.
  EXPECT_EQ(row_named(analysis, "Gather_0").work.weight_bytes_read, 8 * 256 * 4);
}

TEST(Analysis, QuantisedConvolution) {
  const Analysis analysis = analyzed(quantized_convolution());
  const AnalysisRow& convolution = row_named(analysis, "Conv_2");
  EXPECT_EQ(convolution.dtype, "int8");
  EXPECT_EQ(convolution.compute_class, ComputeClass::matrix);
  EXPECT_EQ(convolution.work.macs, 24 * 32 * 32 * 16 * 9);
  EXPECT_EQ(total_flop(analysis.totals.work), 0);
  EXPECT_EQ(total_integer_ops(analysis.totals.work), 2 * convolution.work.macs);
  EXPECT_EQ(convolution.work.bytes_read, 16 * 32 * 32);
  EXPECT_EQ(convolution.work.bytes_written, 24 * 32 * 32);
  for (const AnalysisRow& row : analysis.rows)
    if (row.op != "Conv") {
      EXPECT_EQ(row.compute_class, ComputeClass::none) << row.name;
    }
}

TEST(Analysis, ClassesAndDtypes) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp16, {4, 8});
  model.initializer("w", ElementType::fp16, {8, 8});
  model.integers("shape", {8, 4});
  model.node("MatMul", {"x", "w"}, {"product"});
  model.node("Relu", {"product"}, {"positive"});
  model.node("Transpose", {"positive"}, {"turned"}).attribute("perm", {1, 0});
  model.node("Reshape", {"positive", "shape"}, {"viewed"});
  model.node("Shape", {"x"}, {"sizes"});
  model.node("Odd", {"x"}, {"odd"}).domain("my.domain");
  model.output("turned").output("viewed").output("odd").output("sizes");
  const Analysis analysis = analyzed(model);
  const auto expect = [&](const char* name, ComputeClass compute_class, const char* dtype) {
    EXPECT_EQ(row_named(analysis, name).compute_class, compute_class) << name;
    EXPECT_EQ(row_named(analysis, name).dtype, dtype) << name;
  };
  expect("product", ComputeClass::matrix, "fp16");
  expect("positive", ComputeClass::vector, "fp16");
  expect("turned", ComputeClass::memory, "fp16");
  expect("viewed", ComputeClass::none, "fp16");
  expect("sizes", ComputeClass::none, "int64");
  expect("odd", ComputeClass::unknown, "unknown");
  ASSERT_EQ(analysis.unknown.size(), 1u);
  EXPECT_EQ(analysis.unknown[0].op, "my.domain.Odd");
  EXPECT_THAT(analysis.unknown[0].layers, ElementsAre("odd"));
  EXPECT_THAT(row_named(analysis, "odd").note, HasSubstr("unknown"));
  EXPECT_EQ(analysis.totals.layers, 6u);
}

TEST(Analysis, UnknownOperatorsAreFoundWithoutCounting) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {4, 8});
  model.node("Odd", {"x"}, {"a"}).domain("my.domain");
  model.node("Relu", {"x"}, {"b"});
  model.node("Odd", {"b"}, {"c"}).domain("my.domain");
  model.output("a").output("c");
  const auto unknown = unknown_operators(imported(model).graph);
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].op, "my.domain.Odd");
  EXPECT_EQ(unknown[0].reason, "no rule for this operator");
  EXPECT_THAT(unknown[0].layers, ElementsAre("a", "c"));
  EXPECT_THAT(unknown_operators(imported(resnet50(), {.batch = 1}).graph), IsEmpty());
}

TEST(Analysis, KernelsAreTheRowsOrStandBesideTheLayers) {
  const Graph graph = imported(resnet50(), {.batch = 1}).graph;
  const Analysis layers = analyze(graph),
                 kernels = analyze(graph, Runtime::tensorrt, AnalyzedRows::kernels),
                 beside = analyze(graph, Runtime::tensorrt, AnalyzedRows::layers);
  Work lowered;
  for (const Demand& demand : kernels.demands) lowered += demand.work;
  EXPECT_EQ(kernels.totals.work, lowered);
  EXPECT_LT(total_bytes(lowered), total_bytes(layers.totals.work));
  EXPECT_EQ(beside.totals.work, layers.totals.work);
  EXPECT_EQ(beside.demands, kernels.demands);
  EXPECT_EQ(kernels.runtime, Runtime::tensorrt);
  EXPECT_FALSE(kernels.fusion.empty());
}

TEST(Analysis, WhatHasNoBytesIsSaid) {
  OnnxBuilder model;
  model.opset(17).input("words", ElementType::string, {4});
  model.node("Identity", {"words"}, {"same"});
  model.node("Concat", {"words", "same"}, {"all"}).attribute("axis", 0);
  model.output("all");
  const Analysis analysis = analyzed(model);
  EXPECT_THAT(row_named(analysis, "all").unsized, ElementsAre("words", "same", "all"));
  EXPECT_EQ(intensity(row_named(analysis, "all")), std::nullopt);
  EXPECT_THAT(analysis.warnings, ElementsAre(HasSubstr("1 layer with tensors of unknown size")));
}

TEST(Analysis, JsonFitsItsSchema) {
  for (const OnnxBuilder& model : {quantized_convolution(), bert_layer(16, 32, 4)})
    EXPECT_THAT(schema_violations(written_json(at_batch(model, 1)), "analysis.schema.json"),
                IsEmpty());
}

TEST(Analysis, EnumWordsOfTheSchemaAreTheTokenTables) {
  const auto same = [](const auto& rows, const std::string& definition) {
    std::vector<std::string> words;
    for (const auto& row : rows) words.emplace_back(row.second);
    EXPECT_EQ(schema_enum("analysis.schema.json#/$defs/" + definition), words) << definition;
  };
  same(TokenTable<Rules>::rows, "rules");
  same(TokenTable<ShapeSource>::rows, "shape_source");
  same(TokenTable<Standing>::rows, "standing");
  same(TokenTable<ComputeClass>::rows, "compute_class");
  same(TokenTable<ElementType>::rows, "element_type");
}

TEST(Analysis, JsonHasWholeNumbersAndReadsIncludeWeights) {
  const Json json = written_json(at_batch(resnet50(), 1));
  EXPECT_TRUE(json["totals"]["macs"].is_number_integer());
  EXPECT_EQ(json["totals"]["macs"], 4089184256);
  EXPECT_EQ(json["totals"]["layers"], json["layers"].size());
  const Json& first = json["layers"][0];
  EXPECT_EQ(first["bytes_read"], 602112 + 4 * (9408 + 64));
  EXPECT_EQ(first["weight_bytes"], 4 * (9408 + 64));
  EXPECT_EQ(first["bytes_written"], 3211264);
  double bytes = 0, flops = 0;
  for (const Json& layer : json["layers"]) {
    bytes += layer["bytes_read"].get<double>() + layer["bytes_written"].get<double>();
    flops += layer["flops"].get<double>();
  }
  EXPECT_EQ(json["totals"]["bytes"], bytes);
  EXPECT_EQ(json["totals"]["flops"], flops);
  EXPECT_EQ(json["totals"]["intensity"], flops / bytes);
  EXPECT_EQ(amount_json(0x1p60).is_number_float(), true);
  EXPECT_EQ(amount_json(2.5), 2.5);
}

RC_GTEST_PROP(AnalysisProperty, ArithmeticIsLinearInTheBatchAndWeightsDoNotGrow, ()) {
  static const OnnxBuilder models[] = {resnet50(), mobilenet_v3_large(), bert_layer(16, 32, 4)};
  const OnnxBuilder& model = models[*rc::gen::inRange(0, 3)];
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 65);
  const auto b = static_cast<double>(batch);
  const Analysis one = at_batch(model, 1), many = at_batch(model, batch);
  RC_ASSERT(one.rows.size() == many.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const Work &a = one.rows[i].work, &z = many.rows[i].work;
    RC_ASSERT(z.macs == a.macs * b);
    RC_ASSERT(total_flop(z) == total_flop(a) * b);
    RC_ASSERT(z.transcendentals == a.transcendentals * b);
    RC_ASSERT(z.bytes_written == a.bytes_written * b);
    RC_ASSERT(z.weight_bytes_read == a.weight_bytes_read);
  }
  RC_ASSERT(many.totals.params == one.totals.params);
  Work sum;
  for (const AnalysisRow& row : many.rows) sum += row.work;
  RC_ASSERT(sum == many.totals.work);
}

TEST(AnalysisGroups, ByOperator) {
  const auto groups = group_rows(at_batch(resnet50(), 1).rows, Grouping::op);
  std::vector<std::string> names;
  std::size_t layers = 0;
  double macs = 0;
  for (const RowGroup& group : groups) {
    names.push_back(group.name);
    layers += group.layers;
    macs += group.work.macs;
  }
  EXPECT_THAT(
      names, ElementsAre("Conv", "Relu", "MaxPool", "Add", "GlobalAveragePool", "Flatten", "Gemm"));
  EXPECT_EQ(groups[0].layers, 53u);
  EXPECT_EQ(layers, at_batch(resnet50(), 1).totals.layers);
  EXPECT_EQ(macs, 4089184256);
}

AnalysisRow named_row(const std::string& name, Shape output = {}) {
  AnalysisRow row;
  row.name = name;
  row.op = "Relu";
  static std::deque<Tensor> tensors;  // outlive the rows that point to them
  static std::deque<const Tensor*> pointers;
  Tensor& tensor = tensors.emplace_back();
  tensor.shape = std::move(output);
  tensor.source = ShapeSource::fixed;
  row.outputs = {&pointers.emplace_back(&tensor), 1};
  return row;
}

std::vector<std::string> stage_names(const std::vector<AnalysisRow>& rows) {
  std::vector<std::string> names;
  for (const RowGroup& group : group_rows(rows, Grouping::stage)) names.push_back(group.name);
  return names;
}

TEST(AnalysisGroups, StagesAreTheNumberedPartsOfPaths) {
  EXPECT_THAT(stage_names({named_row("/conv1/Conv"), named_row("/layer1/layer1.0/conv1/Conv"),
                           named_row("/layer1/layer1.1/conv1/Conv"), named_row("/fc/Gemm")}),
              ElementsAre("conv1", "layer1", "fc"));
  EXPECT_THAT(stage_names({named_row("/bert/encoder/layer.0/attention/MatMul"),
                           named_row("/bert/encoder/layer.0/output/MatMul"),
                           named_row("/bert/encoder/layer.1/output/MatMul"),
                           named_row("/bert/embeddings/Gather")}),
              ElementsAre("encoder/layer.0", "encoder/layer.1", "embeddings"));
}

TEST(AnalysisGroups, WithoutPathsStagesAreSizesOfThePicture) {
  EXPECT_THAT(stage_names({named_row("gpu_0/conv1_1", {1, 64, 112, 112}),
                           named_row("gpu_0/res2_1", {1, 64, 56, 56}),
                           named_row("gpu_0/res2_2", {1, 256, 56, 56}),
                           named_row("gpu_0/pred_1", {1, 1000})}),
              ElementsAre("112x112", "56x56", "no picture"));
}

TEST(AnalysisGroups, AChannelsLastPictureIsTheSamePicture) {
  EXPECT_THAT(stage_names({named_row("a", {1, 56, 56, 64}), named_row("b", {1, 64, 56, 56})}),
              ElementsAre("56x56"));
}

AnalysisRow row_of_module(const std::string& name, std::string_view module, double macs) {
  AnalysisRow row = named_row(name);
  row.module = module;
  row.work.macs = macs;
  return row;
}

TEST(AnalysisGroups, ModulesAreATreeWithSumsOfWhatIsInside) {
  const std::vector<AnalysisRow> rows{
      row_of_module("node_a", "net.stem", 1), row_of_module("node_b", "net.layer.0.conv", 10),
      row_of_module("node_c", "net.layer.0.attn.qkv", 100),
      row_of_module("node_d", "net.layer.1", 1000), row_of_module("node_e", "", 5)};
  const auto text = [&](std::size_t depth, RowOrder order) {
    std::vector<std::string> lines;
    for (const RowGroup& group : group_rows(rows, Grouping::module, depth, order))
      lines.push_back(std::to_string(group.depth) + " " + group.name + " " +
                      std::to_string(static_cast<int>(group.work.macs)));
    return lines;
  };
  EXPECT_THAT(text(1, RowOrder::graph), ElementsAre("0 stem 1", "0 layer 1110", "0 outside 5"));
  EXPECT_THAT(text(2, RowOrder::graph), ElementsAre("0 stem 1", "0 layer 1110", "1 layer.0 110",
                                                    "1 layer.1 1000", "0 outside 5"));
  EXPECT_THAT(text(2, RowOrder::macs), ElementsAre("0 layer 1110", "1 layer.1 1000",
                                                   "1 layer.0 110", "0 outside 5", "0 stem 1"));
}

TEST(AnalysisGroups, ModulesOfOlderExportersAreInTheNames) {
  EXPECT_EQ(module_path(named_row("/layer1/layer1.0/conv1/Conv")), "layer1.0.conv1");
  EXPECT_EQ(module_path(named_row("/features/features.0/features.0.1/Relu")), "features.0.1");
  EXPECT_EQ(module_path(named_row("/bert/encoder/layer.0/attention/MatMul")),
            "bert.encoder.layer.0.attention");
  EXPECT_EQ(module_path(named_row("layer1.0.conv1 + bn1 + relu")), "layer1.0.conv1");
  EXPECT_EQ(module_path(named_row("Conv_0")), "");
}

TEST(AnalysisGroups, ModulesOfTheDynamoExporterAreInTheMetadata) {
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 3}).output("y");
  model.node("Relu", {"x"}, {"a"})
      .metadata("pkg.torch.onnx.stack_trace", "File ...")
      .metadata("pkg.torch.onnx.name_scopes", "['', 'net', 'net.act', 'relu']");
  model.node("Relu", {"a"}, {"b"}).metadata("pkg.torch.onnx.name_scopes", "['', 'relu_1']");
  model.node("Relu", {"b"}, {"c"})
      .metadata("pkg.torch.onnx.name_scopes", "['_empty_nn_module_stack_from_metadata_hook', 'x']");
  model.node("Relu", {"c"}, {"y"}).metadata("pkg.torch.onnx.name_scopes", "nonsense");
  const Analysis analysis = at_batch(model, 1);
  std::vector<std::string> modules;
  for (const AnalysisRow& row : analysis.rows) modules.emplace_back(row.module);
  EXPECT_THAT(modules, ElementsAre("net.act", "", "", ""));
}

TEST(AnalysisGroups, RowsAreSortedLargestFirst) {
  Analysis analysis = at_batch(resnet50(), 1);
  sort_rows(analysis.rows, RowOrder::flops);
  EXPECT_EQ(analysis.rows.front().work.macs, 118013952);
  EXPECT_EQ(total_flop(analysis.rows.back().work), 0);
  sort_rows(analysis.rows, RowOrder::intensity);
  EXPECT_GT(intensity(analysis.rows[0]), intensity(analysis.rows[20]));
  EXPECT_EQ(intensity(analysis.rows.back()), std::nullopt);
  sort_rows(analysis.rows, RowOrder::name);
  EXPECT_LT(analysis.rows[0].name, analysis.rows[1].name);
}

}  // namespace
}  // namespace ridgeline::testing
