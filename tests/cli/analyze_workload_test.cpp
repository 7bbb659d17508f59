// `ridgeline analyze NAME`: built-in networks, kernels of a runtime, training steps.
// Model files are in analyze_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json analysis_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "analyze");
  arguments.emplace_back("--json");
  const ProcessResult result = run_ridgeline(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Json json = parse_json(result.out, "analysis");
  EXPECT_THAT(schema_violations(json, "analysis.schema.json"), ::testing::IsEmpty());
  return json;
}

TEST(AnalyzeWorkload, CountsANetworkByName) {
  const Json json = analysis_of({"resnet50"});
  EXPECT_EQ(json["totals"]["macs"], 4'089'184'256);
  EXPECT_EQ(json["totals"]["params"], 25'557'032);
  EXPECT_EQ(json["source"]["format"], "workload");
  EXPECT_FALSE(json.contains("demands"));
}

TEST(AnalyzeWorkload, OptionsReachTheNetwork) {
  const Json one = analysis_of({"mobilenet_v3_large", "--dtype", "fp16"});
  const Json many = analysis_of({"mobilenet_v3_large", "--batch", "16", "--dtype", "fp16"});
  EXPECT_EQ(many["batch"], 16);
  EXPECT_EQ(many["totals"]["macs"].get<double>(), 16 * one["totals"]["macs"].get<double>());
  EXPECT_EQ(many["totals"]["weight_bytes"], one["totals"]["weight_bytes"]);
}

TEST(AnalyzeWorkload, ARuntimeListsItsKernels) {
  const Json json = analysis_of({"resnet50", "--runtime", "tensorrt"});
  EXPECT_EQ(json["demands"].size(), 56u);
  double macs = 0;
  for (const Json& demand : json["demands"]) macs += demand["macs"].get<double>();
  EXPECT_EQ(macs, json["totals"]["macs"].get<double>());
  const Json& first = json["demands"][0];
  EXPECT_EQ(first["m"], 112 * 112);
  EXPECT_EQ(first["n"], 64);
  EXPECT_EQ(first["k"], 3 * 7 * 7);
  EXPECT_EQ(first["layers"], Json({"conv1", "bn1", "relu"}));
}

TEST(AnalyzeWorkload, ATrainingStepIsTheSumOfItsPasses) {
  const Json json = analysis_of(
      {"resnet18", "--train", "--optimizer", "adam", "--mixed-precision", "--batch", "4"});
  const Json& training = json["training"];
  double bytes = 0, macs = 0;
  for (const char* pass :
       {"forward", "recompute", "backward_data", "backward_weights", "optimizer"}) {
    macs += training[pass]["macs"].get<double>();
    bytes +=
        training[pass]["bytes_read"].get<double>() + training[pass]["bytes_written"].get<double>();
  }
  EXPECT_EQ(macs, json["totals"]["macs"].get<double>());
  EXPECT_EQ(bytes, json["totals"]["bytes"].get<double>());
  double memory = 0;
  for (const auto& [name, part] : training["memory"].items()) memory += part.get<double>();
  EXPECT_EQ(memory, training["peak_bytes"].get<double>());
}

TEST(AnalyzeWorkload, PagodasPublishedTotals) {
  const struct {
    const char* network;
    const char* batch;
    double flops, bytes;
  } published[] = {
      {"resnet50", "1", 8'206'316'544.0, 336'671'392.0},
      {"resnet50", "64", 64 * 8'206'316'544.0, 102'011'648.0 + 64 * 234'659'744.0},
      {"mobilenet_v3_large", "1", 449'137'560.0, 102'976'672.0},
      {"mobilenet_v3_large", "64", 64 * 449'137'560.0, 21'805'088.0 + 64 * 81'171'584.0},
      {"lstm", "1", 129'003'520.0, 35'322'336.0},
      {"lstm", "64", 8'486'912.0 + 64 * 120'516'608.0, 34'360'320.0 + 64 * 962'016.0},
  };
  for (const auto& row : published) {
    const Json json = analysis_of({row.network, "--rules", "pagoda", "--batch", row.batch});
    EXPECT_EQ(json["totals"]["flops"].get<double>(), row.flops) << row.network << row.batch;
    EXPECT_EQ(json["totals"]["bytes"].get<double>(), row.bytes) << row.network << row.batch;
  }
}

TEST(AnalyzeWorkload, TheTextNamesTheRuntime) {
  const ProcessResult result = run_ridgeline({"analyze", "resnet18", "--runtime", "tensorrt"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("kernels of tensorrt"));
}

// Counts mean nothing without the options they were made with.
TEST(AnalyzeWorkload, TheHeadingNamesWhatTheNetworkWasBuiltWith) {
  const auto heading = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "analyze");
    arguments.insert(arguments.end(), {"--md", "--top", "1"});
    const std::string out = run_ridgeline(arguments).out;
    return out.substr(0, out.find(';'));
  };
  EXPECT_EQ(
      heading({"llama-3.2-1b", "--phase", "decode", "--context", "2048", "--dtype", "fp16"}),
      "llama-3.2-1b: 259 layers, batch 1, decode, context 2048, attention fused, fp16, shapes "
      "as given");
  EXPECT_EQ(heading({"resnet18", "--train", "--optimizer", "adam", "--mixed-precision"}),
            "resnet18: 219 layers, batch 1, fp32, a training step with adam in mixed precision, "
            "shapes as published");
  EXPECT_EQ(heading({"resnet18", "--runtime", "tensorrt", "--batch", "4"}),
            "resnet18: 23 kernels of tensorrt, batch 4, fp32, shapes as given");
  const Json decode = analysis_of({"gpt2", "--phase", "decode", "--context", "77"});
  EXPECT_EQ(decode["source"]["options"]["context"], "77");
  EXPECT_EQ(analysis_of({"resnet50", "--rules", "pagoda,training"})["rule_options"], "training");
}

TEST(AnalyzeWorkload, KernelsHaveTheirOwnTotals) {
  const Json analysis = analysis_of({"resnet50", "--runtime", "tensorrt"});
  EXPECT_EQ(analysis["kernels"]["kernels"], 56);
  EXPECT_EQ(analysis["kernels"]["macs"], analysis["totals"]["macs"]);
  EXPECT_EQ(analysis["kernels"]["bytes"], 215'740'736);
}

// Weight gradients belong to the stage of their image, not to one named after the filter size.
TEST(AnalyzeWorkload, StagesOfATrainingStep) {
  const Json analysis = analysis_of({"resnet18", "--train", "--group-by", "stage"});
  std::map<std::string, double> macs;
  for (const Json& group : analysis["groups"]) macs[group["name"]] = group["macs"];
  EXPECT_FALSE(macs.contains("3x3"));
  EXPECT_EQ(macs.at("optimizer"), 0);
  EXPECT_EQ(macs.at("112x112"), 2 * 118'013'952.0);
}

TEST(AnalyzeWorkload, TheTextCountsCallsThatLaunchNothing) {
  const auto last_of = [](const char* runtime) {
    return run_ridgeline({"analyze", "vit_b_32", "--runtime", runtime}).out;
  };
  EXPECT_THAT(last_of("torch-eager-hooks"),
              HasSubstr("; calls of the host that launch nothing: 115"));
  EXPECT_THAT(last_of("tensorrt"), Not(HasSubstr("nothing")));
}

TEST(AnalyzeWorkload, AnOptionMayBeForOneOfTwoThatAreCompared) {
  const TemporaryDirectory folder;
  OnnxBuilder model;
  model.opset(17).input("x", ElementType::fp32, {1, 4}).node("Relu", {"x"}, {"y"});
  model.output("y", ElementType::fp32, {1, 4});
  folder.write("relu.onnx", model.bytes());
  const std::string file = folder.file("relu.onnx");
  const auto compared = [](const std::string& one, const std::string& other) {
    return run_ridgeline({"analyze", one, "--attention", "eager", "--diff", other});
  };
  EXPECT_EQ(compared("vit_b_32", file).exit_code, 0);
  EXPECT_EQ(compared(file, "vit_b_32").exit_code, 0);
  EXPECT_EQ(compared(file, file).exit_code, 2);
  EXPECT_EQ(compared("vit_b_32", "resnet18").exit_code, 2);
}

TEST(AnalyzeWorkload, BadInputIsOneLine) {
  const struct {
    std::vector<std::string> arguments;
    int exit_code;
    const char* cause;
  } cases[] = {
      {{"resnet5"}, 2, "did you mean resnet50?"},
      {{"resnet50", "--seq", "3"}, 2, "--seq"},
      {{"resnet50", "--dim", "n=3"}, 2, "--dim"},
      {{"resnet50", "--batch", "0"}, 2, "--batch 0"},
      {{"resnet50", "--batch", "1099511627776"}, 2, "--batch"},
      {{"resnet50", "--dtype", "fp7"}, 2, "fp7"},
      {{"inception_v3", "--image", "8"}, 2, "8x8"},
      {{"resnet50", "--runtime", "magic"}, 2, "magic"},
      {{"resnet50", "--optimizer", "adam"}, 2, "needs --train"},
      {{"resnet50", "--train", "--freeze-until", "nowhere"}, 2, "nowhere"},
      {{"resnet50", "--train", "--dtype", "int8"}, 1, "cannot learn"},
      {{"resnet50", "--train", "--runtime", "tensorrt"}, 2, "runs no training step"},
      {{"resnet50", "--train", "--mixed-precision", "--dtype", "fp64"}, 2, "no meaning in fp64"},
      {{"gpt2", "--train", "--phase", "decode"}, 2, "is not a training step"},
      {{"resnet50", "--train", "--freeze-until", ""}, 2, "names no layer"},
      {{"resnet50", "--rules", "pagoda", "--dtype", "fp16"}, 2, "4 bytes an element"},
      {{"missing.onnx", "--seq", "3"}, 2, "--seq"},
  };
  for (const auto& one : cases) {
    std::vector<std::string> arguments = one.arguments;
    arguments.insert(arguments.begin(), "analyze");
    const ProcessResult result = run_ridgeline(arguments);
    EXPECT_EQ(result.exit_code, one.exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(one.cause));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace ridgeline::testing
