// `ridgeline explain` end to end: devices, fitted models and profiles, every format and every
// error.
// Accuracy of predictions is scored by `validate`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/json.h"
#include "base/text_file.h"
#include "base/text_table.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string example_profile = source_file("tests/data/profiles/example_cpu.json");

using Words = std::vector<std::string>;

ProcessResult explain_run(Words arguments) {
  arguments.insert(arguments.begin(), "explain");
  return run_ridgeline(arguments);
}

std::string output(const Words& arguments) {
  const ProcessResult result = explain_run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

Json json_of(Words arguments) {
  arguments.push_back("--json");
  return parse_json(output(arguments), "output");
}

const Words orin{"resnet50",  "--on",    "jetson-agx-orin-64gb",
                 "--mode",    "30W",     "--dtype",
                 "fp16",      "--batch", "8",
                 "--runtime", "tensorrt"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(ExplainCommand, TextBeginsWithTheVerdictAndFitsEightyColumns) {
  const std::string text = output(orin);
  EXPECT_THAT(text, StartsWith("bound by "));
  EXPECT_THAT(text, HasSubstr("90 % interval"));
  EXPECT_THAT(text, HasSubstr("predicted"));
  EXPECT_THAT(text, HasSubstr("--all shows every layer"));
  EXPECT_THAT(text, HasSubstr("What would help (predicted):"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_THAT(output(with(orin, {"--all"})), Not(HasSubstr("others")));
}

TEST(ExplainDiff, RowsAddUpToBothTotals) {
  const Json json = json_of(
      {"resnet18", "--diff", "resnet34", "--on", "jetson-orin-nano-8gb", "--dtype", "fp16"});
  EXPECT_THAT(schema_violations(json, "explanation_diff.schema.json"), IsEmpty());
  double before = 0, after = 0, energy = 0, last = 1e9;
  std::size_t both = 0;
  for (const Json& row : json.at("rows")) {
    before += row.at("before").is_null() ? 0 : row.at("before").at("time_s").get<double>();
    after += row.at("after").is_null() ? 0 : row.at("after").at("time_s").get<double>();
    energy += row.at("energy_j").get<double>();
    both += !row.at("before").is_null() && !row.at("after").is_null();
    const double change = std::abs(row.at("time_s").get<double>());
    EXPECT_LE(change, last);
    last = change;
  }
  const auto total = [&](const char* side, const char* what) {
    return json.at(side).at(what).at("value").get<double>();
  };
  EXPECT_NEAR(before / total("before", "time_s"), 1, 1e-9);
  EXPECT_NEAR(after / total("after", "time_s"), 1, 1e-9);
  EXPECT_NEAR(energy / (total("after", "energy_j") - total("before", "energy_j")), 1, 1e-6);
  EXPECT_GE(both, 20u) << "blocks that both have match by name";
}

TEST(ExplainDiff, TextBeginsWithTheVerdict) {
  const std::string text =
      output({"resnet18", "--diff", "resnet34", "--on", "jetson-orin-nano-8gb"});
  EXPECT_THAT(text, StartsWith("resnet34: "));
  EXPECT_THAT(text, HasSubstr("more time and"));
  EXPECT_THAT(text, HasSubstr("only in resnet34"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  EXPECT_THAT(output({"resnet18", "--diff", "resnet18", "--on", "jetson-orin-nano-8gb"}),
              StartsWith("resnet18: the same time and energy per sample as resnet18"));
  EXPECT_THAT(output({"resnet18", "--diff", "resnet34", "--on", "jetson-orin-nano-8gb", "--csv"}),
              StartsWith("layer_before,layer_after,"));
}

TEST(ExplainDiff, BadCallsAreOneLine) {
  for (const Words& more :
       {Words{"--diff", "resnet34", "--fps", "30"}, Words{"--diff", "resnet34", "--svg", "a.svg"},
        Words{"--diff", "resnet34", "--modes", "all"}, Words{"--diff-times", "a.json"},
        Words{"--diff", "resnet34", "--format", "svg", "-o", "out"},
        Words{"--diff", "resnet34", "--time", "3ms"}}) {
    const ProcessResult result =
        explain_run(with({"resnet18", "--on", "jetson-orin-nano-8gb"}, more));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(ExplainCommand, JsonValidatesAndAddsUp) {
  const Json json = json_of(orin);
  EXPECT_THAT(schema_violations(json, "explanation.schema.json"), IsEmpty());
  double time_s = 0, energy_j = 0;
  for (const char* part : {"layers", "overheads"})
    for (const Json& row : json.at(part)) {
      time_s += row.at("time_s").get<double>();
      energy_j += row.at("energy_j").get<double>();
    }
  EXPECT_NEAR(time_s / json.at("time_s").at("value").get<double>(), 1, 1e-9);
  EXPECT_NEAR(energy_j / json.at("energy_j").at("value").get<double>(), 1, 1e-9);
  EXPECT_EQ(json.at("time_s").at("source"), "predicted");
  EXPECT_LE(json.at("advice").size(), 8u);
}

// No layer is predicted faster than its roof, for any network and runtime.
TEST(ExplainCommand, NoLayerIsAboveItsRoof) {
  for (const char* network : {"mobilenet_v3_small", "vit_b_32"})
    for (const char* runtime : {"ideal", "torch-eager", "tensorrt"}) {
      const Json json = json_of({network, "--on", "jetson-agx-orin-64gb", "--mode", "MAXN",
                                 "--batch", "16", "--runtime", runtime});
      for (const Json& layer : json.at("layers")) {
        if (layer.at("roof_share").is_null()) continue;
        EXPECT_LE(layer.at("roof_share").get<double>(), 1.001)
            << network << " " << runtime << " " << layer.dump();
      }
    }
}

// If the host is the bottleneck, launching small kernels, a larger batch helps.
TEST(ExplainCommand, AdviceSaysWhatWouldChangeIt) {
  const Json json = json_of({"mobilenet_v3_small", "--on", "jetson-agx-orin-64gb", "--mode", "MAXN",
                             "--runtime", "torch-eager"});
  EXPECT_EQ(json.at("bound"), "host");
  bool batch = false, runtime = false;
  double last = 1;
  for (const Json& advice : json.at("advice")) {
    const auto change = advice.at("change").get<std::string>();
    const double time = advice.at("time_gain").get<double>();
    const double energy = advice.at("energy_gain").get<double>();
    EXPECT_GT(std::max(time, energy), 0) << change;
    EXPECT_LE(std::max(time, energy), last) << change;
    last = std::max(time, energy);
    batch = batch || change.starts_with("batch ");
    runtime = runtime || change.ends_with("instead of torch-eager");
  }
  EXPECT_TRUE(batch);
  EXPECT_TRUE(runtime);
}

// A gain equals what `explain` predicts for the changed options.
TEST(ExplainCommand, GainsAreThoseOfTheVariant) {
  const Words base{"mobilenet_v3_small", "--on",       "jetson-agx-orin-64gb", "--mode", "MAXN",
                   "--runtime",          "torch-eager"};
  const Json now = json_of(base);
  for (const Json& advice : now.at("advice")) {
    std::istringstream words(advice.at("change").get<std::string>());
    std::string what, batch;
    words >> what >> batch;
    if (what != "batch") continue;
    const Json other = json_of(with(base, {"--batch", batch}));
    const auto per_sample = [&](const char* key) {
      return other.at(key).at("value").get<double>() / now.at(key).at("value").get<double>() /
             std::stod(batch);
    };
    EXPECT_NEAR(advice.at("time_gain").get<double>(), 1 - per_sample("time_s"), 1e-9);
    EXPECT_NEAR(advice.at("energy_gain").get<double>(), 1 - per_sample("energy_j"), 1e-9);
    return;
  }
  ADD_FAILURE() << "no batch is advised";
}

TEST(ExplainCommand, CsvAndSvg) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/layers.svg";
  const std::string csv = output(with(orin, {"--csv", "--svg", path}));
  EXPECT_THAT(csv, StartsWith("layer,op,bound,time_s,"));
  const std::string picture = read_text_file(path);
  EXPECT_THAT(picture, HasSubstr("<svg"));
  EXPECT_THAT(picture, HasSubstr("bound by"));
  EXPECT_EQ(output(with(orin, {"--svg", "-"})), picture);
}

TEST(ExplainCommand, ATypeWithoutUnitsFallsBackAndSaysSo) {
  const Json json = json_of({"resnet18", "--on", "jetson-agx-orin-64gb", "--dtype", "fp8"});
  EXPECT_EQ(json.at("dtype"), "fp16");
  EXPECT_THAT(json.at("notes").dump(), HasSubstr("has no units for fp8; predicted as fp16"));
}

// The example profile has no power sensor.
TEST(ExplainCommand, AProfileWithoutEnergyGivesTimeOnly) {
  const Json json = json_of({"resnet18", "--on", example_profile});
  EXPECT_TRUE(json.at("energy_j").is_null());
  EXPECT_TRUE(json.at("power_w").is_null());
  EXPECT_GT(json.at("time_s").at("value").get<double>(), 0);
  EXPECT_THAT(json.at("notes").dump(), HasSubstr("time only"));
  EXPECT_FALSE(json.at("layers").at(0).at("roof_share").is_null());
  const std::string text = output({"resnet18", "--on", example_profile});
  EXPECT_THAT(text, HasSubstr("note: time only"));
}

TEST(ExplainCommand, FewerThreadsAreSlower) {
  const Json all = json_of({"resnet18", "--on", example_profile});
  const Json one = json_of({"resnet18", "--on", example_profile, "--threads", "1"});
  EXPECT_GT(one.at("time_s").at("value").get<double>(), all.at("time_s").at("value").get<double>());
}

TEST(ExplainCommand, ABoardOffsetIsAddedToThePower) {
  const Json plain = json_of(orin);
  const Json offset = json_of(with(orin, {"--board-offset", "5W"}));
  EXPECT_NEAR(offset.at("power_w").at("value").get<double>() -
                  plain.at("power_w").at("value").get<double>(),
              5, 1e-6);
  EXPECT_EQ(offset.at("board_offset_w"), 5);
  EXPECT_EQ(plain.at("time_s").at("value"), offset.at("time_s").at("value"));
}

TEST(ExplainCommand, TrainingTakesLonger) {
  const Words base{"resnet18", "--on",      "jetson-agx-orin-64gb", "--batch",
                   "4",        "--runtime", "torch-eager"};
  const Json train = json_of(with(base, {"--train", "--optimizer", "adam"}));
  EXPECT_EQ(train.at("task"), "training");
  EXPECT_GT(train.at("time_s").at("value").get<double>(),
            2 * json_of(base).at("time_s").at("value").get<double>());
}

TEST(ExplainCommand, SameInputSameBytes) { EXPECT_EQ(output(orin), output(orin)); }

struct ExplainFault {
  Words arguments;
  int exit_code;
  const char* message;
};

TEST(ExplainCommand, FaultsAreOneLine) {
  const TemporaryDirectory folder;
  const std::string here = folder.path();
  const std::string device = "jetson-agx-orin-64gb";
  const ExplainFault faults[] = {
      {{}, 2, "'explain' needs a model"},
      {{"resnet50", "--on", "jetson-agx-orn"}, 2, "did you mean"},
      {{"resnet50", "--on", device, "--mode", "gpu=5GHz"}, 2, "above the highest clock"},
      {{"resnet50", "--on", device, "--mode", "cores=99"}, 2, "--mode"},
      {{"resnet50", "--on", device, "--mode", "77W"}, 2, "has no mode"},
      {{"resnet50", "--on", device, "--runtime", "magic"}, 2, "is not one of ideal"},
      {{"resnet50", "--on", device, "--board-offset", "5kg"}, 2, "--board-offset"},
      {{"resnet50", "--on", device, "--optimizer", "adam"}, 2, "needs --train"},
      {{"resnet50", "--on", device, "--threads", "2"}, 2, "--threads"},
      {{"resnet50", "--on", device, "--dtype", "int3"}, 2, "--dtype"},
      {{"nonet", "--on", device}, 2, "no network and no file has this name"},
      {{"resnet50", "--on", here + "/none.json"}, 1, "no such file"},
      {{"resnet50", "--on", source_file("CMakePresets.json")}, 1, "schema"},
      {{"resnet50", "--on", example_profile, "--mode", "30W"}, 2, "the profile has no mode"},
      {{"resnet50", "--on", example_profile, "--jetpack", "6"}, 2, "--jetpack"},
      {{"resnet50", "--on", device, "--svg", here + "/no/such/folder.svg"}, 1, "folder"},
      {{"resnet50", "--on", device, "--svg", "-", "--json"}, 2, "standard output cannot hold both"},
  };
  for (const ExplainFault& fault : faults) {
    const ProcessResult result = explain_run(fault.arguments);
    EXPECT_EQ(result.exit_code, fault.exit_code) << result.err;
    EXPECT_EQ(result.out, "") << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(fault.message));
  }
}

// With neither a catalog device nor a profile there is nothing to predict from.
TEST(ExplainCommand, ThisMachineNeedsAProfile) {
  const ProcessResult result = explain_run({"resnet50"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("ridgeline measure"));
}

}  // namespace
}  // namespace ridgeline::testing
