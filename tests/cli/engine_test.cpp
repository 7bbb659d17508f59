// TensorRT engines on the command line: analyze, explain and plan on layer information, with times
// and the ONNX file, in every form, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text_file.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string toy_graph = source_file("tests/data/tensorrt/toy.graph.json");
const std::string toy_profile_file = source_file("tests/data/tensorrt/toy.profile.json");

TEST(EngineCommands, AnalyzePrintsLayersAndThenRefusesOpaqueOnes) {
  const ProcessResult result = run_ridgeline({"analyze", toy_graph});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("6 kernels of tensorrt, batch 2"));
  EXPECT_THAT(result.err, HasSubstr("--onnx MODEL.onnx counts it"));
  EXPECT_EQ(run_ridgeline({"analyze", toy_graph, "--allow-unknown"}).exit_code, 0);
}

TEST(EngineCommands, AnalyzeWithTimesAndOnnxInEveryForm) {
  const TemporaryDirectory folder;
  folder.write("net.onnx", toy_onnx());
  const std::vector<std::string> words{"analyze",        toy_graph, "--times",
                                       toy_profile_file, "--onnx",  folder.path() + "/net.onnx"};
  const auto output = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    const ProcessResult result = run_ridgeline(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string text = output({});
  EXPECT_THAT(text, HasSubstr("measured: 50.0 µs per run in layers (mean of 1000 runs)"));
  EXPECT_THAT(text, HasSubstr("9 of 9 ONNX nodes run in kernels (100.0 % of the FLOP"));
  const Json json = parse_json(output({"--json", "--group-by", "module"}), "json");
  EXPECT_THAT(schema_violations(json, "analysis.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("view"), "kernels");
  EXPECT_EQ(json.at("source").at("format"), "tensorrt");
  double sum = 0;
  for (const Json& layer : json.at("layers")) sum += layer.value("time_s", 0.0);
  EXPECT_NEAR(sum, json.at("measured").at("total_s").get<double>(), 1e-12);
  std::vector<std::string> modules;
  for (const Json& group : json.at("groups"))
    modules.push_back(group.at("name").get<std::string>());
  EXPECT_THAT(modules, ElementsAre("stem", "body", "head"));
  EXPECT_EQ(json.at("onnx").at("folded"), 0);
  EXPECT_THAT(output({"--csv"}), HasSubstr(",note,module,time_s,median_s\n"));
  EXPECT_THAT(output({"--md", "--sort", "time", "--top", "1"}), HasSubstr("| body/conv"));
}

TEST(EngineCommands, ExplainShowsMeasuredTimesUnderTheirRoofs) {
  const TemporaryDirectory folder;
  folder.write("net.onnx", toy_onnx());
  const std::vector<std::string> words{"explain", toy_graph,
                                       "--times", toy_profile_file,
                                       "--onnx",  folder.path() + "/net.onnx",
                                       "--on",    "jetson-agx-orin-64gb",
                                       "--mode",  "30W"};
  const auto output = [&](const char* form) {
    std::vector<std::string> all = words;
    if (*form != '\0') all.emplace_back(form);
    if (std::string(form) == "--group-by") all.emplace_back("module");
    const ProcessResult result = run_ridgeline(all);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_THAT(output(""), HasSubstr("measured: 50.0 µs in layers (mean of 1000 runs)"));
  EXPECT_THAT(output("--group-by"), HasSubstr("module"));
  const Json json = parse_json(output("--json"), "json");
  EXPECT_THAT(schema_violations(json, "explanation.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("runtime"), "tensorrt") << "that of the engine, unless another is given";
  EXPECT_TRUE(json.at("measured").at("contradictions").empty());
  for (const Json& layer : json.at("layers"))
    EXPECT_LE(layer.at("measured_roof_share").get<double>(), 1) << layer.at("name");
}

TEST(EngineCommands, ATimeBelowItsRoofIsAContradiction) {
  const TemporaryDirectory folder;
  std::string fast = read_text_file(toy_profile_file);
  const std::string time = "\"timeMs\" : 16,";
  fast.replace(fast.find(time), time.size(), "\"timeMs\" : 1e-4,");
  folder.write("fast.json", fast);
  const ProcessResult result =
      run_ridgeline({"explain", toy_graph, "--times", folder.path() + "/fast.json", "--on",
                     "jetson-agx-orin-64gb", "--mode", "15W"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("contradiction: 1 layer was faster"));
  EXPECT_THAT(result.err, HasSubstr("body/conv + body/add + body/relu"));
  EXPECT_THAT(result.err, HasSubstr("suspect the device"));
}

TEST(EngineCommands, PlanTakesAnEngine) {
  const ProcessResult result = run_ridgeline(
      {"plan", toy_graph, "--allow-unknown", "--on", "jetson-orin-nano-8gb", "--fps", "30"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("by tensorrt"));
  EXPECT_EQ(run_ridgeline({"plan", toy_graph, "--on", "jetson-orin-nano-8gb"}).exit_code, 4);
}

struct EngineRefusal {
  std::vector<std::string> words;
  int code;
  const char* message;
};

TEST(EngineCommands, BadCallsAreOneLine) {
  const TemporaryDirectory folder;
  folder.write("names.json", R"({"Layers": ["a", "b"]})");
  folder.write("net.onnx", toy_onnx());
  folder.write("other.onnx", toy_onnx("_of_another"));
  const std::string names = folder.path() + "/names.json", net = folder.path() + "/net.onnx";
  const EngineRefusal cases[] = {
      {{"analyze", names}, 4, "--profilingVerbosity=detailed"},
      {{"analyze", toy_profile_file}, 1, "give it as --times"},
      {{"analyze", toy_graph, "--times", toy_graph}, 1, "no times"},
      {{"analyze", toy_graph, "--onnx", folder.path() + "/other.onnx"}, 1, "not the network of"},
      {{"analyze", toy_graph, "--batch", "3"}, 1, "run with batch 2, not 3"},
      {{"analyze", toy_graph, "--shape", "image=1x3x16x16"}, 2, "does not apply"},
      {{"analyze", toy_graph, "--opt-profile", "4"}, 1, "no optimisation profile 4"},
      {{"analyze", toy_graph, "--train"}, 2, "does not apply to the kernels of tensorrt"},
      {{"analyze", toy_graph, "--rules", "pagoda"}, 2, "does not apply to the kernels of tensorrt"},
      {{"analyze", net, "--batch", "1", "--times", toy_profile_file}, 2, "holds layers"},
      {{"analyze", "resnet50", "--times", toy_profile_file}, 2, "known by name"},
      {{"explain", toy_graph, "--runtime", "torch-eager", "--allow-unknown", "--on",
        "jetson-agx-orin-64gb"},
       1,
       "holds the kernels of tensorrt"},
      {{"explain", toy_graph, "--group-by", "op"}, 2, "is not module"},
  };
  for (const EngineRefusal& one : cases) {
    const ProcessResult result = run_ridgeline(one.words);
    EXPECT_EQ(result.exit_code, one.code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(one.message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

// Engines of the corpus on the device that they were measured on. The A100 80GB PCIe has the SMs
// and clocks of the SXM card and less bandwidth; the TITAN RTX is not in the catalog, but its
// smaller sister RTX 2080 Ti is, whose roofs are lower. The H100's files have no times of layers,
// and the device of yuanjiechen_trt2023 is not known.
TEST(EngineCommands, NoMeasuredTimeOfTheCorpusIsBelowItsRoof) {
  const char* data = std::getenv("RIDGELINE_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/trt/";
  if (folder.empty() || !std::filesystem::exists(folder))
    GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no folder trt";
  const std::string a100 = folder + "nvidia_trex_v11.0_tree/a100_pytorch_resnet/";
  const std::string engines[][2] = {
      {a100 + "fp16/resnet", "a100-80gb-sxm"},
      {a100 + "fp32/resnet", "a100-80gb-sxm"},
      {a100 + "qat/resnet-qat", "a100-80gb-sxm"},
      {a100 + "qat-residual/resnet-qat-residual", "a100-80gb-sxm"},
      {folder + "nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat", "rtx-2080-ti-11gb"},
      {folder + "nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/mobilenet.qat",
       "rtx-2080-ti-11gb"}};
  for (const auto& [stem, device] : engines) {
    const ProcessResult result =
        run_ridgeline({"explain", stem + ".onnx.engine.graph.json", "--times",
                       stem + ".onnx.engine.profile.json", "--on", device, "--json"});
    ASSERT_EQ(result.exit_code, 0) << stem << ": " << result.err;
    const Json json = parse_json(result.out, stem);
    double sum = 0;
    for (const Json& layer : json.at("layers")) {
      sum += layer.at("measured_s").get<double>();
      if (!(layer.at("measured_s").get<double>() > 0)) continue;
      ASSERT_TRUE(layer.contains("measured_roof_share")) << layer.at("name");
      EXPECT_LE(layer.at("measured_roof_share").get<double>(), 1) << layer.at("name");
    }
    EXPECT_NEAR(sum, json.at("measured").at("total_s").get<double>(), 1e-9 * sum) << stem;
  }
}

}  // namespace
}  // namespace ridgeline::testing
