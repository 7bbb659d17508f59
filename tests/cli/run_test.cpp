// `ridgeline run` as a user runs it: forms, tables, timelines, and what is refused. Networks are
// executed where LibTorch is part of the build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text_file.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/board_trees.h"
#include "tests/support/libtorch.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"
#include "validation/measurement_table.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(RunCommand, RefusesWhatItCannotRun) {
  EXPECT_EQ(run_ridgeline({"run"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--threads", "0"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--seconds", "soon"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"run", "lenet5", "--optimizer", "adam"}).exit_code, 2);
  const ProcessResult large = run_ridgeline({"run", "vgg16", "--batch", "100000"});
  EXPECT_EQ(large.exit_code, 3);
  EXPECT_THAT(large.err, HasSubstr("of memory"));
}

// An engine is refused before anything tries to open it; 'explain' has the tools for that.
TEST(RunCommand, RefusesEnginesWithoutLibraryAndNamesTheCommandThatRunsThem) {
  const TemporaryDirectory folder;
  folder.write("net.engine", std::string("ftrt\0\0\0\0", 8));
  ProcessSettings settings;
  settings.environment["RIDGELINE_NVINFER_LIBRARY"] = "/nonexistent/libnvinfer.so";
  const ProcessResult engine = run_ridgeline({"run", folder.file("net.engine")}, settings);
  EXPECT_EQ(engine.exit_code, 1);
  EXPECT_THAT(engine.err, HasSubstr("'ridgeline explain " + folder.file("net.engine")));
  const ProcessResult kernels =
      run_ridgeline({"run", source_file("tests/data/tensorrt/toy.graph.json")});
  EXPECT_EQ(kernels.exit_code, 1);
  EXPECT_THAT(kernels.err, HasSubstr("'ridgeline explain --times'"));
}

// By stand-ins for libnvinfer and CUDA's driver; the engine takes the times of the toy's profile.
class RunEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string library = build_file("tests/libridgeline_test_nvinfer.so");
    if (!std::filesystem::exists(library))
      GTEST_SKIP() << "TensorRT's headers are not installed: libnvinfer's stand-in was not built";
    folder_.write("net.plan", engine_bytes(toy_text()));
    std::string times;
    for (const Json& layer :
         parse_json(read_text_file(source_file("tests/data/tensorrt/toy.profile.json")), "toy"))
      if (layer.contains("name"))
        times += std::to_string(layer.at("averageMs").get<double>()) + " " +
                 layer.at("name").get<std::string>() + "\n";
    folder_.write("times", times);
    settings_.working_directory = folder_.path();
    settings_.environment = {
        {"RIDGELINE_TRTEXEC", "/bin/false"},  // not asked
        {"RIDGELINE_NVINFER_LIBRARY", library},
        {"RIDGELINE_CUDA_DRIVER", build_file("tests/libridgeline_test_cuda.so")},
        {"RIDGELINE_TEST_NVINFER_TIMES", folder_.file("times")}};
  }
  ProcessResult run(std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "net.plan", "--seconds", "0.05"});
    return run_ridgeline(words, settings_);
  }

  TemporaryDirectory folder_;
  ProcessSettings settings_;
};

TEST_F(RunEngine, LayersStandBesideTheirRoofs) {
  const ProcessResult result = run({"--on", "jetson-agx-orin-64gb", "--json", "--trace", "t.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "json");
  EXPECT_THAT(schema_violations(json, "run.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("runtime"), "tensorrt");
  EXPECT_EQ(json.at("batch"), 2);
  EXPECT_GE(json.at("time_s").at("value").get<double>(), 50e-6);
  double sum_s = 0;
  std::size_t with_roof = 0;
  for (const Json& layer : json.at("layers")) {
    sum_s += layer.at("measured_s").get<double>();
    with_roof += layer.at("roof_share").is_null() ? 0 : 1;
  }
  EXPECT_NEAR(sum_s, 50e-6, 1e-9);
  EXPECT_GT(with_roof, 2U);
  EXPECT_GT(parse_json(read_text_file(folder_.file("t.json")), "t").at("traceEvents").size(), 10U);
}

TEST_F(RunEngine, IsReportedWithoutThreads) {
  const ProcessResult result = run({"--on", "jetson-agx-orin-64gb"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("on Stand-in GPU"));
  EXPECT_THAT(result.out, Not(HasSubstr("thread")));
}

// The toy with a free batch and every layer once more for a second optimisation profile; the
// stand-in writes the batch of its context for '@': 8 is the optimum of the first profile, 4 that
// of the second.
std::string two_profiles() {
  Json engine = parse_json(toy_text(), "toy");
  Json layers = Json::array();
  for (const char* const mark : {"", " [profile 1]"})
    for (Json layer : engine.at("Layers")) {
      layer["Name"] = layer.at("Name").get<std::string>() + mark;
      for (const char* const ends : {"Inputs", "Outputs"})
        for (Json& tensor : layer.at(ends)) tensor.at("Dimensions").at(0) = "@";
      layers.push_back(layer);
    }
  engine["Layers"] = layers;
  std::string text = engine.dump();
  for (auto at = text.find("\"@\""); at != text.npos; at = text.find("\"@\""))
    text.replace(at, 3, "@");
  return text;
}

TEST_F(RunEngine, CountsTheProfileThatItRuns) {
  folder_.write("net.plan", engine_bytes(two_profiles()));
  const auto expect = [&](std::vector<std::string> words, int batch, const std::string& options) {
    words.emplace_back("--json");
    const ProcessResult result = run(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json json = parse_json(result.out, "json");
    EXPECT_EQ(json.at("batch"), batch);
    EXPECT_EQ(json.at("options"), options);
  };
  expect({}, 8, "");
  expect({"--opt-profile", "1"}, 4, "opt-profile=1");
  expect({"--opt-profile", "1", "--shape", "images=3x3x224x224"}, 3,
         "images=3x3x224x224;opt-profile=1");
  expect({"--shape", "5x3x224x224"}, 5, "shape=5x3x224x224");  // of the only input
}

// On a made-up board, without --on.
class RunEngineOnBoard : public RunEngine {
 protected:
  Json run_on(BoardTree tree, std::vector<std::string> words = {}) {
    tree.layout = RailLayout::none;  // no sensor: metering takes seconds
    FakeSystem board;
    make_board(board, tree);
    settings_.environment["RIDGELINE_ROOT"] = board.root().path;
    settings_.environment["XDG_DATA_HOME"] = folder_.file("store");
    words.insert(words.begin(), "--json");
    const ProcessResult result = run(words);
    settings_.environment.erase("RIDGELINE_ROOT");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.exit_code == 0 ? result.out : "{}", "json");
  }
  Json run_in(const std::string& mode) {
    return parse_json(run({"--json", "--on", "jetson-agx-orin-64gb", "--mode", mode}).out, mode);
  }
  static double predicted_s(const Json& json) {
    return json.at("predicted_s").at("value").get<double>();
  }
  static std::vector<double> roof_shares(const Json& json) {
    std::vector<double> shares;
    for (const Json& layer : json.at("layers"))
      shares.push_back(layer.at("roof_share").is_null() ? 0 : layer.at("roof_share").get<double>());
    return shares;
  }
};

TEST_F(RunEngineOnBoard, IsPredictedInTheModeOfTheBoard) {
  BoardTree tree = board_tree("agx_orin_jp6");
  ASSERT_EQ(tree.modes.at(tree.mode), "MAXN");
  const Json maxn = run_in("MAXN"), other = run_in("30W");
  ASSERT_LT(predicted_s(maxn), predicted_s(other));
  ASSERT_NE(roof_shares(maxn), roof_shares(other));
  const Json board = run_on(tree);
  EXPECT_EQ(board.at("device"), "jetson-agx-orin-64gb");
  EXPECT_EQ(predicted_s(board), predicted_s(maxn));
  EXPECT_EQ(roof_shares(board), roof_shares(maxn)) << "16 SMs, not the 8 of the default mode";
  EXPECT_EQ(predicted_s(run_on(tree, {"--mode", "30W"})), predicted_s(other));

  tree.mode = 2;  // 30W, with two of three clusters
  tree.policies.pop_back();
  tree.gpu_max_hz = 612000000;
  tree.cpu_max_khz = 1728000;
  EXPECT_EQ(roof_shares(run_on(tree)), roof_shares(other));
}

TEST_F(RunEngineOnBoard, AnUnknownModeMakesNoContradictions) {
  BoardTree tree = board_tree("agx_orin_jp6");
  tree.mode = 7;
  tree.modes[7] = "MY_OWN";
  const Json board = run_on(tree);
  EXPECT_EQ(roof_shares(board), roof_shares(run_in("MAXN")));
  EXPECT_THAT(board.at("notes").dump(), HasSubstr("no stock mode (MY_OWN): 16 SMs are assumed"));
  for (BoardTree other : board_trees()) {
    other.mode = -1;  // no nvpmodel
    EXPECT_THAT(run_on(other).at("notes").dump(), HasSubstr("no stock mode (as found)"))
        << other.name;
  }
}

TEST_F(RunEngine, RefusalsAreOneLine) {
  const auto refusal = [&](const std::vector<std::string>& words, int code) {
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  EXPECT_THAT(refusal({"--threads", "1"}, 2), HasSubstr("runs on the GPU"));
  EXPECT_THAT(refusal({"--train"}, 2), HasSubstr("runs as it is"));
  EXPECT_THAT(refusal({"--table", "runs.csv"}, 2),
              HasSubstr("keep the run with --json > run.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("runs.csv")));
  EXPECT_THAT(refusal({"--batch", "2"}, 2), HasSubstr("write --shape NAME=1x3x224x224"));
  EXPECT_THAT(refusal({"--assume-dim", "2"}, 2), HasSubstr("write --shape NAME=1x3x224x224"));
  EXPECT_THAT(refusal({"--shape", "image=2x3x224x224"}, 2),
              HasSubstr("no input \"image\" (its input is \"images\")"));
  EXPECT_THAT(refusal({"--shape", "2x3x224x224", "--shape", "images=2x3x224x224"}, 2),
              HasSubstr("\"images\" is given twice"));
  EXPECT_THAT(refusal({"--shape", "17x3x224x224"}, 1), HasSubstr("does not accept these sizes"));
  EXPECT_THAT(refusal({"--opt-profile", "2"}, 1), HasSubstr("its profiles are 0 to 1"));
  settings_.environment["RIDGELINE_TEST_CUDA_FAULT"] = "100";
  EXPECT_THAT(refusal({}, 1), HasSubstr("no CUDA-capable device"));
  settings_.environment["RIDGELINE_TEST_NVINFER_NO_GPU"] = "1";
  EXPECT_THAT(refusal({}, 1), HasSubstr("working GPU"));
  settings_.environment["RIDGELINE_TEST_NVINFER_VERSION"] = "8601";
  EXPECT_THAT(refusal({}, 1), HasSubstr("is TensorRT 8"));
}

TEST(RunCommand, ExecutesANetworkAndKeepsARow) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  const std::string table = folder.path() + "/runs.csv", trace = folder.path() + "/trace.json";
  ProcessSettings settings;
  settings.environment["XDG_DATA_HOME"] = folder.path() + "/store";
  for (const bool trains : {false, true}) {
    std::vector<std::string> words = {"run",       "lenet5",  "--batch", "2",
                                      "--seconds", "0.05",    "--json",  "--table",
                                      table,       "--trace", trace};
    if (trains) words.emplace_back("--train");
    const ProcessResult result = run_ridgeline(words, settings);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json json = Json::parse(result.out);
    EXPECT_THAT(schema_violations(json, "run.schema.json"), IsEmpty());
    EXPECT_GT(json["time_s"]["value"], 0);
    EXPECT_EQ(json["predicted_s"], Json());
    bool has_backward = false;
    for (const Json& layer : json["layers"]) has_backward |= layer["phase"] == "backward";
    EXPECT_EQ(has_backward, trains);
  }
  EXPECT_GT(Json::parse(read_text_file(trace))["traceEvents"].size(), 10U);
  const MeasurementTable rows = read_measurement_table(table);
  EXPECT_THAT(rows.skipped, IsEmpty());
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0].batch, 2);
  EXPECT_EQ(rows.rows[1].task, Task::training);
}

}  // namespace
}  // namespace ridgeline::testing
