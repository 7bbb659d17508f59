// `ridgeline lint` and comparisons of engines as a user runs them: forms, exit codes, engine files
// with a program in the place of trtexec, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "tests/analyzer/networks.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string toy = source_file("tests/data/tensorrt/toy.graph.json");
const std::string toy_times = source_file("tests/data/tensorrt/toy.profile.json");

// Nothing of a real TensorRT is found.
ProcessSettings without_tensorrt(const std::string& trtexec = "") {
  ProcessSettings settings;
  settings.environment["RIDGELINE_NVINFER_LIBRARY"] = "/nonexistent/libnvinfer.so";
  settings.environment["RIDGELINE_TRTEXEC"] = trtexec;
  return settings;
}

TEST(LintCommand, PrintsFindingsWithTheirLossAndRemedy) {
  const ProcessResult result = run_ridgeline({"lint", toy, "--times", toy_times});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("toy.graph.json"));
  EXPECT_THAT(result.out, HasSubstr("per run (measured)"));
  EXPECT_THAT(result.out, HasSubstr("  remedy: "));
  EXPECT_THAT(result.out, HasSubstr("not judged: far-from-roof"));
}

TEST(LintCommand, AMachineAddsRoofsAndPredictedTimes) {
  const ProcessResult result =
      run_ridgeline({"lint", toy, "--on", "jetson-agx-orin-64gb", "--mode", "30W"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("(predicted for NVIDIA Jetson AGX Orin 64GB)"));
  const ProcessResult measured =
      run_ridgeline({"lint", toy, "--times", toy_times, "--on", "jetson-agx-orin-64gb"});
  EXPECT_THAT(measured.out, Not(HasSubstr("not judged"))) << measured.err;
}

TEST(LintCommand, FormsHoldTheFindings) {
  const ProcessResult json = run_ridgeline({"lint", toy, "--times", toy_times, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_THAT(schema_violations(Json::parse(json.out), "lint.schema.json"), IsEmpty());
  EXPECT_THAT(run_ridgeline({"lint", toy, "--csv"}).out, HasSubstr("rule,layer,lost_s"));
  EXPECT_THAT(run_ridgeline({"lint", toy, "--md"}).out, HasSubstr("| rule |"));
}

TEST(LintCommand, FailsOnlyOnRulesThatAreNamed) {
  const ProcessResult all = run_ridgeline({"lint", toy, "--json"});
  const Json findings = Json::parse(all.out).at("findings");
  ASSERT_FALSE(findings.empty());
  const std::string found = findings.at(0).at("rule").get<std::string>();
  EXPECT_EQ(run_ridgeline({"lint", toy, "--fail-on", found}).exit_code, 3);
  EXPECT_EQ(run_ridgeline({"lint", toy, "--fail-on", "any"}).exit_code, 3);
  EXPECT_EQ(run_ridgeline({"lint", toy, "--fail-on", "profile-shape," + found}).exit_code, 3);
  EXPECT_EQ(run_ridgeline({"lint", toy, "--fail-on", "profile-shape"}).exit_code, 0);
}

TEST(LintCommand, AnEngineFileIsRunByTrtexec) {
  const TemporaryDirectory folder;
  folder.write("net.engine", engine_bytes("secret"));
  folder.write_program("trtexec", R"(for word; do case $word in
  --exportLayerInfo=*) cp ')" + toy + R"(' "${word#*=}";;
  --exportProfile=*) cp ')" + toy_times +
                                      R"(' "${word#*=}";;
esac; done
echo '[I] Selected Device: Orin')");
  const ProcessSettings settings = without_tensorrt(folder.file("trtexec"));
  const ProcessResult linted = run_ridgeline({"lint", folder.file("net.engine")}, settings);
  EXPECT_EQ(linted.exit_code, 0) << linted.err;
  EXPECT_THAT(linted.out, HasSubstr("Orin"));
  EXPECT_THAT(linted.out, HasSubstr("per run (measured)"));
  const ProcessResult analyzed =
      run_ridgeline({"analyze", folder.file("net.engine"), "--json", "--allow-unknown"}, settings);
  ASSERT_EQ(analyzed.exit_code, 0) << analyzed.err;
  EXPECT_EQ(Json::parse(analyzed.out).at("source").at("format"), "tensorrt-engine");
}

TEST(EngineComparison, ShowsWhatChanged) {
  const ProcessResult same = run_ridgeline({"analyze", toy, "--diff", toy});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("matched layers are the same"));
  const ProcessResult json = run_ridgeline(
      {"analyze", toy, "--times", toy_times, "--diff", toy, "--diff-times", toy_times, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_THAT(schema_violations(Json::parse(json.out), "engine_diff.schema.json"), IsEmpty());
  EXPECT_THAT(run_ridgeline({"analyze", toy, "--diff", toy, "--csv"}).out,
              HasSubstr("name_before"));
  EXPECT_THAT(run_ridgeline({"analyze", toy, "--diff", toy, "--md"}).out, HasSubstr("| total |"));
}

TEST(EngineGraph, IsWrittenForGraphviz) {
  const ProcessResult result = run_ridgeline({"analyze", toy, "--dot", "-", "--allow-unknown"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("digraph"));
  EXPECT_THAT(result.out, HasSubstr(" -> "));
}

struct LintRefusal {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string part;  // of the message
};

class LintRefuses : public ::testing::TestWithParam<LintRefusal> {};

TEST_P(LintRefuses, InOneLine) {
  const TemporaryDirectory folder;
  folder.write("net.engine", engine_bytes("secret"));
  folder.write("net.onnx", quantized_convolution().bytes());
  folder.write("toy.graph.json", "{\"Layers\": [\"conv1\", \"conv2\"]}");
  ProcessSettings settings = without_tensorrt();
  settings.working_directory = folder.path();
  const ProcessResult result = run_ridgeline(GetParam().arguments, settings);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(GetParam().part));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

INSTANTIATE_TEST_SUITE_P(
    Cli, LintRefuses,
    ::testing::Values(
        LintRefusal{"NoEngine", {"lint"}, 2, "'lint' needs an engine"},
        LintRefusal{"NoSuchFile", {"lint", "gone.json"}, 1, "gone.json: no such file"},
        LintRefusal{"NamesOnly", {"lint", "toy.graph.json"}, 4, "detailed"},
        LintRefusal{"NoSuchRule", {"lint", toy, "--fail-on", "reformats"}, 2, "did you mean"},
        LintRefusal{"ModeWithoutMachine", {"lint", toy, "--mode", "30W"}, 2, "needs --on"},
        LintRefusal{"NoTools",
                    {"lint", "net.engine"},
                    1,
                    "built by TensorRT 10.3.0.26, and nothing here can open it"},
        LintRefusal{"NoToolsForAnalyze",
                    {"analyze", "net.engine"},
                    1,
                    "trtexec --loadEngine=net.engine --exportLayerInfo=net.graph.json"},
        LintRefusal{"Onnx", {"lint", "net.onnx"}, 1, "net.onnx"},
        LintRefusal{"EngineWithModel",
                    {"analyze", toy, "--diff", "net.onnx"},
                    2,
                    "compares an engine with an engine"},
        LintRefusal{
            "TimesOfNothing", {"analyze", toy, "--diff-times", toy_times}, 2, "needs --diff"},
        LintRefusal{"TimesOfModels",
                    {"analyze", "net.onnx", "--diff", "net.onnx", "--diff-times", toy_times},
                    2,
                    "needs two engines"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ridgeline::testing
