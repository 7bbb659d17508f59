// `ridgeline analyze` end to end: every format and every option, on models built by the test.
// Refusals are in analyze_refusals_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "base/text_table.h"
#include "tests/analyzer/networks.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Analyze : public ::testing::Test {
 protected:
  TemporaryDirectory folder;

  void write(const std::string& name, const OnnxBuilder& model) {
    folder.write(name, model.bytes());
  }
  ProcessResult run(std::vector<std::string> arguments, int columns = 80) {
    arguments.insert(arguments.begin(), "analyze");
    return run_ridgeline(arguments, {.environment = {{"COLUMNS", std::to_string(columns)}},
                                     .working_directory = folder.path()});
  }
  std::string text(std::vector<std::string> arguments, int columns = 80) {
    const ProcessResult result = run(std::move(arguments), columns);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  Json json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return parse_json(text(std::move(arguments)), "out");
  }
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::string line_with(const std::string& text, const std::string& start) {
  for (const std::string& line : lines(text))
    if (line.starts_with(start)) return line;
  return "no line starts with " + start;
}

TEST_F(Analyze, TableHasLayersAndTotals) {
  write("resnet50.onnx", resnet50());
  const std::string out = text({"resnet50.onnx", "--batch", "8"});
  EXPECT_THAT(out, StartsWith("resnet50.onnx: 122 layers, batch 8, shapes as given; counted from"));
  EXPECT_THAT(out, HasSubstr("the rules ridgeline, unfused"));
  EXPECT_THAT(out, HasSubstr("FLOP/byte"));
  EXPECT_THAT(line_with(out, "Conv_0 "), HasSubstr("8x64x112x112"));
  EXPECT_THAT(line_with(out, "Conv_0 "), HasSubstr("944 M"));
  EXPECT_THAT(line_with(out, "total "), HasSubstr("32.7 G"));
  EXPECT_THAT(line_with(out, "total "), HasSubstr("100.0 %"));
  EXPECT_THAT(out, HasSubstr("parameters: 25.5 M in 102 MB"));
  EXPECT_THAT(out, HasSubstr("classes: matrix 54 layers"));
  EXPECT_THAT(out, HasSubstr("arithmetic: fp32 for matrix units"));
  EXPECT_THAT(out, HasSubstr("1 layer without work is not shown; --all shows it"));
  EXPECT_THAT(out, Not(HasSubstr("Flatten")));
  EXPECT_THAT(text({"resnet50.onnx", "--batch", "8", "--all"}), HasSubstr("Flatten"));
}

TEST_F(Analyze, EveryWidthFits) {
  write("net.onnx", bert_layer(16, 32, 4));
  for (const int columns : {200, 80, 60, 40, 20})
    for (const auto& options : std::vector<std::vector<std::string>>{
             {}, {"--all"}, {"--group-by", "op"}, {"--diff", "net.onnx"}}) {
      std::vector<std::string> arguments{"net.onnx", "--batch", "2"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      for (const std::string& line : lines(text(arguments, columns)))
        EXPECT_LE(display_width(line), std::max(columns, 36)) << columns << ": " << line;
    }
}

TEST_F(Analyze, SortAndTop) {
  write("net.onnx", resnet50());
  const std::string out = text({"net.onnx", "--batch", "1", "--sort", "flops", "--top", "3"});
  EXPECT_THAT(lines(out)[4], StartsWith("Conv_0 "));
  EXPECT_THAT(lines(out)[7], StartsWith("(118 others) "));
  EXPECT_THAT(line_with(out, "total "), HasSubstr("4.09 G"));
  const std::string by_bytes = text({"net.onnx", "--batch", "1", "--sort", "bytes", "--csv"});
  EXPECT_THAT(lines(by_bytes)[1], StartsWith("Conv_"));
  for (const char* order : {"graph", "macs", "intensity", "name"})
    EXPECT_EQ(run({"net.onnx", "--batch", "1", "--sort", order}).exit_code, 0) << order;
}

TEST_F(Analyze, GroupBy) {
  write("net.onnx", resnet50());
  const std::string ops = text({"net.onnx", "--batch", "1", "--group-by", "op"});
  EXPECT_THAT(line_with(ops, "Conv "), HasSubstr("53"));
  EXPECT_THAT(line_with(ops, "total "), HasSubstr("122"));
  const std::string stages = text({"net.onnx", "--batch", "1", "--group-by", "stage"});
  EXPECT_THAT(stages, HasSubstr("56x56"));
  const Json groups = json({"net.onnx", "--batch", "1", "--group-by", "op"});
  EXPECT_THAT(schema_violations(groups, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(groups["groups"][0]["name"], "Conv");
  EXPECT_EQ(groups["groups"][0]["macs"], 4087136256);
  EXPECT_THAT(text({"net.onnx", "--batch", "1", "--group-by", "op", "--csv"}),
              HasSubstr("\nConv,53,4087136256,"));
}

TEST_F(Analyze, JsonIsValidAndAddsUp) {
  write("net.onnx", resnet50());
  const Json analysis = json({"net.onnx", "--batch", "4"});
  EXPECT_THAT(schema_violations(analysis, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(analysis.begin().key(), "schema");
  EXPECT_EQ(analysis["model"], "net.onnx");
  EXPECT_EQ(analysis["batch"], 4);
  EXPECT_EQ(analysis["shapes"], "given");
  for (const char* name : {"macs", "flops", "int_ops", "transcendentals", "weight_bytes"}) {
    double sum = 0;
    for (const Json& layer : analysis["layers"]) sum += layer[name].get<double>();
    EXPECT_EQ(analysis["totals"][name], sum) << name;
  }
  double bytes = 0;
  for (const Json& layer : analysis["layers"])
    bytes += layer["bytes_read"].get<double>() + layer["bytes_written"].get<double>();
  EXPECT_EQ(analysis["totals"]["bytes"], bytes);
  EXPECT_EQ(analysis["totals"]["layers"], analysis["layers"].size());
}

TEST_F(Analyze, SameInputSameBytes) {
  write("net.onnx", bert_layer(16, 32, 4));
  const std::vector<std::string> arguments{"net.onnx", "--batch", "2", "--json"};
  EXPECT_EQ(run(arguments).out, run(arguments).out);
}

TEST_F(Analyze, CsvHasEveryLayer) {
  write("net.onnx", resnet50());
  const auto rows = lines(text({"net.onnx", "--batch", "1", "--csv"}));
  EXPECT_EQ(rows.size(), 123u);
  EXPECT_EQ(rows[0],
            "layer,op,class,dtype,output,macs,flops,int_ops,transcendentals,bytes_read,"
            "bytes_written,weight_bytes,intensity,repeats,standing,shapes,note,module");
  EXPECT_THAT(rows[1], StartsWith("Conv_0,Conv,matrix,fp32,1x64x112x112,118013952,236830720,0,0,"
                                  "640000,3211264,37888,61.49"));
  EXPECT_EQ(lines(text({"net.onnx", "--batch", "1", "--csv", "--top", "2"})).size(), 3u);
}

TEST_F(Analyze, Markdown) {
  write("net.onnx", resnet50());
  const std::string out = text({"net.onnx", "--batch", "1", "--md", "--top", "2"});
  EXPECT_THAT(out, HasSubstr("| layer | op | output | MACs | FLOP | bytes | FLOP/byte | share |"));
  EXPECT_THAT(out, HasSubstr("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"));
  EXPECT_THAT(out, HasSubstr("- parameters: 25.5 M in 102 MB"));
}

TEST_F(Analyze, FreeDimensionsByNameByInputOrAssumed) {
  write("net.onnx", lstm_word_model(100, 16));
  const auto flops = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "net.onnx");
    return json(options)["totals"]["flops"].get<double>();
  };
  const double one = flops({"--dim", "batch=2", "--dim", "sequence=3"});
  EXPECT_EQ(one,
            flops({"--shape", "text=2x3", "--shape", "hidden=2x2x16", "--shape", "cell=2x2x16"}));
  EXPECT_EQ(one, 6 * flops({"--assume-dim", "1"}));
  EXPECT_EQ(json({"net.onnx", "--assume-dim", "1"})["shapes"], "assumed");
  EXPECT_EQ(json({"net.onnx", "--dim", "batch=2", "--dim", "sequence=3"})["shapes"], "given");
}

TEST_F(Analyze, WithoutOptionsAFileKeepsItsShapes) {
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {5, 7});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  write("net.onnx", model);
  const Json analysis = json({"net.onnx"});
  EXPECT_EQ(analysis["batch"], 5);
  EXPECT_EQ(analysis["shapes"], "fixed");
  EXPECT_EQ(analysis["totals"]["flops"], 35);
}

TEST_F(Analyze, IntegerOperationsHaveAColumn) {
  write("net.onnx", quantized_convolution());
  const std::string out = text({"net.onnx"});
  EXPECT_THAT(out, HasSubstr("   OP"));
  EXPECT_THAT(out, HasSubstr("arithmetic: int8 for matrix units 100.0 %"));
  EXPECT_THAT(text({"net.onnx", "--all"}), HasSubstr("absorbed"));
}

OnnxBuilder branching() {
  GraphBuilder larger, smaller;
  larger.node("Exp", {"x"}, {"a"});
  larger.node("Exp", {"a"}, {"then_out"});
  larger.output("then_out", ElementType::fp32, {10});
  smaller.node("Relu", {"x"}, {"else_out"});
  smaller.output("else_out", ElementType::fp32, {10});
  OnnxBuilder model;
  model.opset(13).input("x", ElementType::fp32, {10});
  model.input("condition", ElementType::boolean, {});
  model.node("If", {"condition"}, {"y"})
      .name("choice")
      .attribute("then_branch", larger)
      .attribute("else_branch", smaller);
  model.output("y", ElementType::fp32, {10});
  return model;
}

TEST_F(Analyze, BranchesThatAreNotCountedAreAlternatives) {
  write("net.onnx", branching());
  Json analysis = json({"net.onnx"});
  EXPECT_EQ(analysis["totals"]["flops"], 20);
  EXPECT_EQ(analysis["alternatives"].size(), 1u);
  EXPECT_EQ(analysis["alternatives"][0]["flops"], 10);
  EXPECT_EQ(analysis["alternatives"][0]["standing"], "alternative");
  EXPECT_THAT(schema_violations(analysis, "analysis.schema.json"), IsEmpty());
  analysis = json({"net.onnx", "--branch", "else"});
  EXPECT_EQ(analysis["totals"]["flops"], 10);
  EXPECT_EQ(analysis["alternatives"].size(), 2u);
  EXPECT_EQ(json({"net.onnx", "--branch", "then"})["totals"]["flops"], 20);
  EXPECT_THAT(text({"net.onnx"}), HasSubstr("not in the total: 1 layer of branches"));
}

OnnxBuilder looping() {
  GraphBuilder body;
  body.input("trip", ElementType::int64, {});
  body.input("go_on", ElementType::boolean, {});
  body.input("state", ElementType::fp32, {10});
  body.node("Identity", {"go_on"}, {"go_on_out"});
  body.node("Relu", {"state"}, {"state_out"}).name("body_relu");
  body.output("go_on_out", ElementType::boolean, {});
  body.output("state_out", ElementType::fp32, {10});
  OnnxBuilder model;
  model.opset(13).input("count", ElementType::int64, {});
  model.input("x", ElementType::fp32, {10});
  model.node("Loop", {"count", "", "x"}, {"y"}).name("loop").attribute("body", body);
  model.output("y", ElementType::fp32, {10});
  return model;
}

TEST_F(Analyze, TripsMultiplyABody) {
  write("net.onnx", looping());
  for (const char* trips : {"12", "loop=12"}) {
    const Json analysis = json({"net.onnx", "--trips", trips});
    EXPECT_EQ(analysis["totals"]["flops"], 120) << trips;
    bool found = false;
    for (const Json& layer : analysis["layers"])
      if (layer["op"] == "Relu") {
        EXPECT_EQ(layer["repeats"], 12);
        found = true;
      }
    EXPECT_TRUE(found);
  }
  EXPECT_THAT(text({"net.onnx", "--trips", "12"}), HasSubstr("×12"));
}

TEST_F(Analyze, PagodaRules) {
  write("net.onnx", resnet50());
  const Json analysis = json({"net.onnx", "--rules", "pagoda", "--batch", "8"});
  EXPECT_THAT(schema_violations(analysis, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(analysis["rules"], "pagoda");
  EXPECT_EQ(analysis["batch"], 8);
  EXPECT_EQ(analysis["totals"]["flops"], 8 * 8206316544);
  EXPECT_EQ(analysis["totals"]["bytes"], 102011648 + 8LL * 234659744);
  EXPECT_EQ(analysis["totals"]["weight_bytes"], 102011648);
  EXPECT_TRUE(analysis["totals"]["macs"].is_null());
  const std::string out = text({"net.onnx", "--rules", "pagoda"});
  EXPECT_THAT(out, HasSubstr("rules pagoda"));
  EXPECT_THAT(out, Not(HasSubstr("MACs")));
  write("lstm.onnx", lstm_word_model());
  EXPECT_EQ(json({"lstm.onnx", "--rules", "pagoda,matmul_seq=8"})["totals"]["flops"], 129003520);
  EXPECT_EQ(json({"net.onnx", "--rules", "pagoda,training"})["totals"]["flops"], 3 * 8206316544);
}

TEST_F(Analyze, WeightsReplaceCosts) {
  write("net.onnx", bert_layer(16, 32, 4));
  folder.write("weights.json",
               R"({"schema": "ridgeline.op_weights/1", "functions": {"erf": 108}})");
  const Json ours = json({"net.onnx", "--batch", "1"});
  const Json theirs = json({"net.onnx", "--batch", "1", "--weights", "weights.json"});
  EXPECT_EQ(theirs["totals"]["flops"].get<double>() - ours["totals"]["flops"].get<double>(),
            100 * 16 * 4 * 32);
  EXPECT_EQ(theirs["weights_file"], "weights.json");
  EXPECT_THAT(text({"net.onnx", "--batch", "1", "--weights", "weights.json"}),
              HasSubstr("costs of weights.json"));
}

TEST_F(Analyze, OperatorsAreDescribedByFormulas) {
  OnnxBuilder model;
  model.opset(13).opset(1, "my.domain").input("x", ElementType::fp32, {10});
  model.node("Odd", {"x"}, {"a"}).domain("my.domain");
  model.output("a");
  write("net.onnx", model);
  folder.write("ops.json", R"({"schema": "ridgeline.operators/1", "operators": [
      {"name": "my.domain.Odd", "outputs": [{"shape": "in0"}], "flops": "7 * in0.elements"}]})");
  const Json counted = json({"net.onnx", "--ops", "ops.json"});
  EXPECT_THAT(schema_violations(counted, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(counted["totals"]["flops"], 70);
  EXPECT_EQ(counted["layers"][0]["note"], "by formula");
  EXPECT_TRUE(counted["unknown"].empty());
  EXPECT_THAT(text({"net.onnx", "--ops", "ops.json", "--runtime", "tensorrt"}), HasSubstr("Odd"));
}

// A known operator behind an unknown one is not called unknown.
TEST_F(Analyze, OperatorsOfUnknownShapeAreListedApart) {
  OnnxBuilder model;
  model.opset(13).opset(1, "my.domain").input("x", ElementType::fp32, {10});
  model.node("Odd", {"x"}, {"a"}).domain("my.domain");
  model.node("Relu", {"a"}, {"b"});
  model.output("b");
  write("net.onnx", model);
  const std::string both =
      "unknown operators: my.domain.Odd ×1 (no rule for this operator); operators of unknown "
      "shape: "
      "Relu ×1 (the shape of an input is unknown)";
  EXPECT_EQ(
      run({"net.onnx"}).err,
      "ridgeline: net.onnx: " + both +
          " (describe them with --ops FILE; --allow-unknown counts them as moving data only)\n");
  const Json allowed = json({"net.onnx", "--allow-unknown"});
  EXPECT_THAT(schema_violations(allowed, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(allowed["unknown"][0]["has_rule"], false);
  EXPECT_EQ(allowed["unknown"][1]["has_rule"], true);
}

TEST_F(Analyze, UnknownOperatorsArePrintedThenRefused) {
  OnnxBuilder model;
  model.opset(13).opset(1, "my.domain").input("x", ElementType::fp32, {10});
  model.node("Odd", {"x"}, {"a"}).domain("my.domain");
  model.node("Relu", {"x"}, {"b"});
  model.output("a").output("b");
  write("net.onnx", model);
  const ProcessResult refused = run({"net.onnx"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.out, HasSubstr("my.domain.Odd"));
  EXPECT_THAT(refused.out, HasSubstr("total"));
  EXPECT_EQ(refused.err,
            "ridgeline: net.onnx: unknown operators: my.domain.Odd ×1 (no rule for this operator) "
            "(describe them with --ops FILE; --allow-unknown counts them as moving data only)\n");
  EXPECT_EQ(run({"net.onnx", "--json"}).exit_code, 4);
  const Json allowed = json({"net.onnx", "--allow-unknown"});
  EXPECT_THAT(schema_violations(allowed, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(allowed["unknown"][0]["op"], "my.domain.Odd");
  EXPECT_EQ(allowed["unknown"][0]["count"], 1);
  EXPECT_EQ(allowed["totals"]["flops"], 10);
}

// Bytes of layers minus the savings of all rules are the bytes of kernels.
TEST_F(Analyze, FusionIsItemised) {
  const Json analysis = json({"mobilenet_v2", "--runtime", "tensorrt"});
  EXPECT_THAT(schema_violations(analysis, "analysis.schema.json"), IsEmpty());
  double bytes = analysis["totals"]["bytes"];
  for (const Json& rule : analysis["fusion"]) bytes -= rule["bytes_saved"].get<double>();
  for (const Json& demand : analysis["demands"])
    bytes -= demand["bytes_read"].get<double>() + demand["bytes_written"].get<double>();
  EXPECT_EQ(bytes, 0);
  EXPECT_GT(analysis["fusion"].size(), 1u);
  EXPECT_THAT(text({"mobilenet_v2", "--runtime", "tensorrt"}),
              HasSubstr("\nfusion: saves 104 MB of 173 MB: "));
  EXPECT_THAT(json({"mobilenet_v2", "--runtime", "torch-eager"})["fusion"], IsEmpty());
}

TEST_F(Analyze, Diff) {
  OnnxBuilder small, large;
  for (auto* model : {&small, &large}) {
    const bool is_large = model == &large;
    model->opset(13).input("x", ElementType::fp32, {is_large ? 20 : 10});
    model->node("Relu", {"x"}, {"a"}).name("first");
    model->node(is_large ? "Tanh" : "Exp", {"a"}, {"b"}).name(is_large ? "new" : "old");
    model->output("b");
  }
  write("small.onnx", small);
  write("large.onnx", large);
  const Json difference = json({"small.onnx", "--diff", "large.onnx"});
  EXPECT_THAT(schema_violations(difference, "analysis_diff.schema.json"), IsEmpty());
  EXPECT_EQ(difference["ratios"]["flops"], 6);
  EXPECT_EQ(difference["changed"][0]["before"]["name"], "first");
  EXPECT_EQ(difference["removed"][0]["name"], "old");
  EXPECT_EQ(difference["added"][0]["name"], "new");
  const std::string out = text({"small.onnx", "--diff", "large.onnx"});
  EXPECT_THAT(out, StartsWith("small.onnx → large.onnx; "));
  EXPECT_THAT(out, HasSubstr("×6.000"));
  EXPECT_THAT(out, HasSubstr("layers at run time: 0 the same, 1 changed, 1 removed, 1 added"));
  EXPECT_THAT(text({"small.onnx", "--diff", "large.onnx", "--md"}), HasSubstr("| total |"));
  EXPECT_THAT(text({"small.onnx", "--diff", "large.onnx", "--csv"}),
              HasSubstr("\nremoved,old,,Exp,,,0,,10,,0,,80,\n"));
  EXPECT_THAT(text({"small.onnx", "--diff", "small.onnx"}), HasSubstr("2 the same, 0 changed"));
  const Json kernels = json({"small.onnx", "--diff", "large.onnx", "--runtime", "ideal"});
  EXPECT_THAT(schema_violations(kernels, "analysis_diff.schema.json"), IsEmpty());
  EXPECT_EQ(kernels["after"]["runtime"], "ideal");
  EXPECT_EQ(kernels["changed"][0]["after"]["name"], "first + new");
  EXPECT_THAT(text({"small.onnx", "--diff", "large.onnx", "--runtime", "ideal"}),
              HasSubstr("kernels: 0 the same, 1 changed, 0 removed, 0 added"));
}

// Repeated blocks are one line.
TEST_F(Analyze, DiffCountsLinesThatAreTheSame) {
  EXPECT_THAT(line_with(text({"resnet18", "--diff", "resnet34"}), "layer3.2.conv1 "),
              EndsWith("  8"));
}

}  // namespace
}  // namespace ridgeline::testing
