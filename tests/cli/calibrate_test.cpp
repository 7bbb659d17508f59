// `ridgeline calibrate` end to end: a table of runs in, a model out that other commands accept;
// impossible rows, broken tables. The arithmetic is in calibration_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/machine_model.h"
#include "base/text_file.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string>;

const char* const device = "jetson-agx-orin-64gb";
const char* const header =
    "mode,locked,model,batch,dtype,runtime,task,time_ms,power_w,power_kind\n";

ProcessResult calibrate_run(Words arguments) {
  arguments.insert(arguments.begin(), "calibrate");
  return run_ridgeline(arguments);
}

Json explained(const std::string& on, const std::string& mode) {
  const ProcessResult result =
      run_ridgeline({"explain", "resnet50", "--on", on, "--mode", mode, "--batch", "16",
                     "--runtime", "torch-eager", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return parse_json(result.out, "output");
}

double value(const Json& json, const char* key) { return json.at(key).at("value").get<double>(); }

std::string table(const TemporaryDirectory& folder, const std::string& rows) {
  const std::string path = folder.path() + "/probes.csv";
  write_file_atomically(path, header + rows);
  return path;
}

std::string row(const std::string& mode, double time_ms, const std::string& power = "") {
  return mode + ",yes,resnet50,16,fp32,torch-eager,inference," + std::to_string(time_ms) + "," +
         power + (power.empty() ? "," : ",module") + "\n";
}

// A board that is a fifth slower and draws more power than the catalog predicts, measured at one
// mode: predictions move towards it, at that mode and at others.
TEST(CalibrateCommand, ABoardOfOnesOwn) {
  const TemporaryDirectory folder;
  const std::string model = folder.path() + "/my-board.json";
  const Json before = explained(device, "MAXN");
  const double time_ms = value(before, "time_s") * 1.2 * 1e3;
  const double power_w = value(before, "power_w") * 1.1;
  const ProcessResult result = calibrate_run(
      {"--on", device, table(folder, row("MAXN", time_ms, std::to_string(power_w))), "-o", model});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 measured value used"));
  EXPECT_THAT(result.out, HasSubstr("fitted"));
  EXPECT_THAT(result.err, HasSubstr("wrote " + model));

  const Json document = read_json_file(model);
  EXPECT_THAT(schema_violations(document, "machine_model.schema.json"), IsEmpty());
  const MachineModel fitted = machine_model_from_json(file_cursor(document, model));
  EXPECT_EQ(fitted.device, device);
  ASSERT_EQ(fitted.observations.size(), 1u);
  EXPECT_EQ(fitted.observations[0].network, "resnet50");

  const Json after = explained(model, "MAXN");
  EXPECT_NEAR(value(after, "time_s") * 1e3 / time_ms, 1, 0.1);
  EXPECT_NEAR(value(after, "power_w") / power_w, 1, 0.05);
  EXPECT_GT(value(explained(model, "50W"), "time_s"), value(explained(device, "50W"), "time_s"));
}

TEST(CalibrateCommand, SuggestsWhatToMeasureNext) {
  const ProcessResult first = calibrate_run({"--on", device, "--suggest", "--for", "resnet18"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("measure next: "));
  EXPECT_THAT(first.out, HasSubstr("the most of 11 modes"));

  const TemporaryDirectory folder;
  const ProcessResult json =
      calibrate_run({"--on", device, table(folder, row("30W", 300)), "--suggest", "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const Json document = parse_json(json.out, "output");
  EXPECT_THAT(schema_violations(document, "calibration.schema.json"), IsEmpty());
  EXPECT_NE(document.at("suggestion").at("point").at("label"), "30W");
}

TEST(CalibrateCommand, AProfileStatesRates) {
  const TemporaryDirectory folder;
  const std::string profile = source_file("tests/data/profiles/example_cpu.json");
  const std::string model = folder.path() + "/cpu.json";
  const ProcessResult result = calibrate_run({"--on", profile, profile, "-o", model});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ProcessResult direct = run_ridgeline({"explain", "resnet18", "--on", profile, "--json"});
  const ProcessResult fitted = run_ridgeline({"explain", "resnet18", "--on", model, "--json"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_EQ(parse_json(direct.out, "a").at("time_s"), parse_json(fitted.out, "b").at("time_s"));
}

struct Fault {
  std::string rows;
  int exit_code;
  const char* message;
};

// One line on stderr, no model written.
TEST(CalibrateCommand, RowsThatCannotBeTrue) {
  const Fault faults[] = {
      {row("MAXN", 0.05), 1, "no row can be used"},
      {row("MAXN", 51560), 1, "no row can be used"},
      {row("MAXN", -3), 1, "time_ms"},
      {"MAXN,yes,nonet,16,fp32,torch-eager,inference,50,,\n", 4, "holds no measured run"},
      {"", 4, "holds no measured run"},
  };
  for (const Fault& fault : faults) {
    const TemporaryDirectory folder;
    const std::string model = folder.path() + "/model.json";
    const ProcessResult result =
        calibrate_run({"--on", device, table(folder, fault.rows), "-o", model, "--quiet"});
    EXPECT_EQ(result.exit_code, fault.exit_code) << fault.rows << result.err;
    EXPECT_THAT(result.err, HasSubstr(fault.message));
    EXPECT_THAT(result.err, HasSubstr("probes.csv"));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(model));
  }
}

TEST(CalibrateCommand, FaultsAreOneLine) {
  const TemporaryDirectory folder;
  const std::string probes = table(folder, row("MAXN", 50));
  const std::string other = folder.path() + "/other.csv";
  write_file_atomically(
      other, "device," + std::string(header) + "jetson-orin-nano-8gb," + row("MAXN_SUPER", 50));
  const std::pair<Words, std::pair<int, const char*>> faults[] = {
      {{}, {2, "'calibrate' needs measured runs"}},
      {{"--on", device, folder.path() + "/none.csv"}, {1, "none.csv"}},
      {{"--on", device, other}, {1, "was measured on jetson-orin-nano-8gb"}},
      {{"--on", device, "--suggest"}, {2, "needs a network"}},
      {{"--on", device, "--suggest", "--for", "resnet51"}, {2, "resnet51"}},
      {{"--on", device, "--suggest", "--for", "resnet50", "-o", "x.json"}, {2, "nothing was"}},
      {{"--on", device, probes, "-o", folder.path() + "/no/folder.json"}, {1, "folder"}},
      {{"--on", device, probes, "--csv"}, {2, "--csv"}},
  };
  for (const auto& [arguments, expected] : faults) {
    const ProcessResult result = calibrate_run(arguments);
    EXPECT_EQ(result.exit_code, expected.first) << result.err;
    EXPECT_THAT(result.err, HasSubstr(expected.second));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace ridgeline::testing
