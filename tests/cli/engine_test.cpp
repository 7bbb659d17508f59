// TensorRT engines on the command line: analyze, explain and plan on layer information, with times
// and the ONNX file, in every form, and what is refused.
#include "analyzer/tensorrt/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
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

// A script in the place of trtexec exports the toy engine for any engine file.
class EngineFileCommands : public ::testing::Test {
 protected:
  EngineFileCommands() {
    folder_.write("net.onnx", toy_onnx());
    folder_.write("net.plan", engine_bytes("weights"));
    folder_.write_program("trtexec",
                          "for word; do case $word in\n"
                          "  --exportLayerInfo=*) cp '" +
                              toy_graph +
                              "' \"${word#*=}\";;\n"
                              "  --exportProfile=*) cp '" +
                              toy_profile_file +
                              "' \"${word#*=}\";;\n"
                              "esac; done\n"
                              "echo '[I] TensorRT version: 10.3.0'\n"
                              "echo '[I] Selected Device: Orin'");
    settings_.working_directory = folder_.path();
    settings_.environment["RIDGELINE_TRTEXEC"] = folder_.file("trtexec");
    settings_.environment["RIDGELINE_NVINFER_LIBRARY"] = "/nonexistent/libnvinfer.so";
  }

  ProcessResult run(const std::vector<std::string>& words) const {
    return run_ridgeline(words, settings_);
  }

 private:
  TemporaryDirectory folder_;
  ProcessSettings settings_;
};

TEST_F(EngineFileCommands, IsExplainedWithTheTimesOfTrtexec) {
  const ProcessResult result = run({"explain", "net.plan", "--onnx", "net.onnx", "--on",
                                    "jetson-agx-orin-64gb", "--mode", "30W", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "json");
  EXPECT_THAT(schema_violations(json, "explanation.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("runtime"), "tensorrt");
  EXPECT_NEAR(json.at("measured").at("total_s").get<double>(), 50e-6, 1e-9);
  EXPECT_EQ(json.at("measured").at("device"), "Orin");
  const ProcessResult text = run({"explain", "net.plan", "--onnx", "net.onnx", "--group-by",
                                  "module", "--on", "jetson-agx-orin-64gb"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("layers and times are those that"));
}

TEST_F(EngineFileCommands, TrtexecNeedsTheNamesOfInputs) {
  const ProcessResult result = run({"analyze", "net.plan", "--shape", "2x3x16x16"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("write --shape NAME=1x3x224x224"));
}

TEST_F(EngineFileCommands, IsPlanned) {
  const ProcessResult result = run({"plan", "net.plan", "--onnx", "net.onnx", "--on",
                                    "jetson-orin-nano-8gb", "--fps", "30", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "json");
  EXPECT_THAT(schema_violations(json, "plan.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("runtime"), "tensorrt");
}

TEST_F(EngineFileCommands, IsLintedOnADevice) {
  const ProcessResult result = run({"lint", "net.plan", "--on", "jetson-agx-orin-64gb"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("50.0 µs per run (measured)"));
  EXPECT_THAT(result.out, HasSubstr("TensorRT 10.3.0"));
}

TEST_F(EngineFileCommands, IsComparedWithItsExportedLayers) {
  const ProcessResult result = run({"analyze", "net.plan", "--diff", toy_graph});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("matched layers are the same"));
}

// The same with libnvinfer instead of trtexec: layers and no times. Its stand-in lists what the
// engine file holds behind its header.
TEST(EngineFileByLibrary, IsAnalysedExplainedPlannedAndLinted) {
  const std::string library = build_file("tests/libridgeline_test_nvinfer.so");
  if (!std::filesystem::exists(library))
    GTEST_SKIP() << "TensorRT's headers are not installed: libnvinfer's stand-in was not built";
  const TemporaryDirectory folder;
  folder.write("net.onnx", toy_onnx());
  folder.write("net.plan", engine_bytes(toy_text()));
  ProcessSettings settings;
  settings.working_directory = folder.path();
  settings.environment["RIDGELINE_TRTEXEC"] = "";
  settings.environment["RIDGELINE_NVINFER_LIBRARY"] = library;
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"analyze", "net.plan"}, Words{"explain", "net.plan", "--on", "jetson-agx-orin-64gb"},
        Words{"plan", "net.plan", "--on", "jetson-orin-nano-8gb", "--fps", "30"}}) {
    Words all = words;
    all.insert(all.end(), {"--onnx", "net.onnx", "--json"});
    const ProcessResult result = run_ridgeline(all, settings);
    ASSERT_EQ(result.exit_code, 0) << words.front() << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr("tensorrt")) << words.front();
  }
  const ProcessResult linted =
      run_ridgeline({"lint", "net.plan", "--on", "jetson-agx-orin-64gb"}, settings);
  EXPECT_EQ(linted.exit_code, 0) << linted.err;
  EXPECT_THAT(linted.out, HasSubstr("(predicted"));
}

struct EngineRefusal {
  std::vector<std::string> words;
  int code;
  const char* message;
};

// The form of TensorRT 11, rewritten from the file of its twin, gives the same answer.
TEST(EngineCommands, TheFormOfElevenGivesTheSameAnalysis) {
  const TemporaryDirectory folder;
  folder.write("net.onnx", toy_onnx());
  for (const char* form : {"/ten", "/eleven"})
    std::filesystem::create_directory(folder.path() + form);
  folder.write("ten/toy.graph.json", toy_text());
  folder.write("eleven/toy.graph.json", as_eleven(toy_text()));
  ASSERT_NE(as_eleven(toy_text()), toy_text());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"analyze"},
        {"explain", "--on", "jetson-agx-orin-64gb"},
        {"plan", "--on", "jetson-orin-nano-8gb", "--fps", "30"}}) {
    std::vector<Json> answers;
    for (const char* form : {"/ten", "/eleven"}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"toy.graph.json", "--times", toy_profile_file, "--onnx",
                             folder.path() + "/net.onnx", "--json"});
      if (words.front() == "plan") all.erase(all.end() - 5, all.end() - 3);
      ProcessSettings settings;
      settings.working_directory = folder.path() + form;
      const ProcessResult result = run_ridgeline(all, settings);
      ASSERT_EQ(result.exit_code, 0) << result.err;
      Json answer = parse_json(result.out, form);
      answer.erase("source");  // the version that the form tells
      answers.push_back(std::move(answer));
    }
    EXPECT_EQ(answers[0], answers[1]) << words.front();
  }
}

// Layers of the toy engine until the file has 20 MB.
std::string large_layer_information() {
  const Json toy = parse_json(toy_text(), "toy");
  std::string text = "{\"Layers\": [\n";
  for (int copy = 0; text.size() < 20'000'000; ++copy)
    for (Json layer : toy.at("Layers")) {
      const std::string suffix = "." + std::to_string(copy);
      layer["Name"] = layer.at("Name").get<std::string>() + suffix;
      for (const char* side : {"Inputs", "Outputs"})
        for (Json& tensor : layer.at(side))
          tensor["Name"] = tensor.at("Name").get<std::string>() + suffix;
      text += (text.back() == '}' ? ",\n" : "") + dump_json(layer);
      while (text.back() == '\n') text.pop_back();
    }
  return text + "]}";
}

TEST(EngineCommands, TwentyMegabytesAreReadInLittleTimeAndMemory) {
  const std::string text = large_layer_information();
  double best_s = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    EXPECT_GT(tensorrt::read_engine(text, "large.json").layers.size(), 10'000u);
    best_s = std::min(best_s, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  RecordProperty("read_seconds", std::to_string(best_s));
  if (is_sanitized()) return;
  EXPECT_LT(best_s, 0.3);
  const TemporaryDirectory folder;
  folder.write("large.json", text);
  const ProcessResult result =
      run_ridgeline({"analyze", folder.path() + "/large.json", "--allow-unknown", "--top", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const long limit_kib = 10 * static_cast<long>(text.size()) / 1024;
  if (own.ru_maxrss >= limit_kib) GTEST_SKIP() << "the test itself takes as much memory";
  EXPECT_LT(result.max_resident_kib, limit_kib);
}

// Every case of bad input that users can make with an engine, one line each.
TEST(EngineCommands, BadFilesAreOneLine) {
  const TemporaryDirectory folder;
  std::string deep = "{\"Layers\": [{\"Name\": \"a\", \"Odd\": ";
  for (int i = 0; i < 10'000; ++i) deep += "[";
  folder.write("deep.json", deep);
  folder.write("nan.json", R"({"Layers": [{"Name": "a", "OutMaps": NaN}]})");
  folder.write("negative.json", R"({"Layers": [{"Name": "a", "OutMaps": -4}]})");
  folder.write("cut.json", toy_text().substr(0, 900));
  folder.write("cut.log",
               "[I] TensorRT version: 10.3.0\n[I] Layers:\nName: a, LayerType: NoOp, In");
  folder.write("two.json", toy_text() + toy_text());
  folder.write("names.json", R"({"Layers": ["a", "b"]})");
  folder.write("other.profile.json",
               R"([{"count": 3}, {"name": "other", "timeMs": 1, "averageMs": 1}])");
  const EngineRefusal cases[] = {
      {{"analyze", "deep.json"}, 1, "nested deeper than 64 levels"},
      {{"analyze", "nan.json"}, 1, "NaN"},
      {{"analyze", "negative.json"}, 1, "negative"},
      {{"analyze", "cut.json"}, 1, "cut off"},
      {{"analyze", "cut.log"}, 1, "record it again"},
      {{"analyze", "two.json"}, 1, "holds two engines"},
      {{"plan", "names.json", "--on", "jetson-nano"}, 4, "--profilingVerbosity=detailed"},
      {{"analyze", toy_graph, "--times", "other.profile.json"}, 1, "other.profile.json"},
      {{"explain", toy_graph, "--allow-unknown", "--on", "jetson-nano", "--times",
        "other.profile.json"},
       1,
       "other.profile.json"}};
  ProcessSettings settings;
  settings.working_directory = folder.path();
  for (const EngineRefusal& one : cases) {
    const ProcessResult result = run_ridgeline(one.words, settings);
    EXPECT_EQ(result.exit_code, one.code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(one.message)) << one.words[1];
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "") << one.words[1];
  }
}

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

// Engines of the corpus on the device that they were measured on. The H100's files have no times of
// layers, and the device of yuanjiechen_trt2023 is not known.
TEST(EngineCommands, NoMeasuredTimeOfTheCorpusIsBelowItsRoof) {
  const char* data = std::getenv("RIDGELINE_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/trt/";
  if (folder.empty() || !std::filesystem::exists(folder))
    GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no folder trt";
  const std::string a100 = folder + "nvidia_trex_v11.0_tree/a100_pytorch_resnet/";
  const std::string engines[][2] = {
      {a100 + "fp16/resnet", "a100-80gb-pcie"},
      {a100 + "fp32/resnet", "a100-80gb-pcie"},
      {a100 + "qat/resnet-qat", "a100-80gb-pcie"},
      {a100 + "qat-residual/resnet-qat-residual", "a100-80gb-pcie"},
      {folder + "nvidia_trex_22.04_tree/mobilenet_qat_int8/mobilenet.qat", "titan-rtx-24gb"},
      {folder + "nvidia_trex_v11.0_tree/titanrtx_mobilenet_qat_int8/mobilenet.qat",
       "titan-rtx-24gb"}};
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
