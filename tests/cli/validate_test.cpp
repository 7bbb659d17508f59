// `ridgeline validate` end to end: formats, refusals and exit codes on small tables, and the
// published tables if RIDGELINE_DATA has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/json.h"
#include "base/text_file.h"
#include "base/text_table.h"
#include "tests/support/measured_tables.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string table_header =
    "source,device,mode,model,options,batch,dtype,runtime,task,time_ms,power_w,power_kind\n";

// A board in four modes; times are made up, but of the right order.
std::string small_table() {
  std::string text = table_header;
  const char* modes[] = {"15W,resnet50,,1,fp16,torch-eager,inference,40,12",
                         "30W,resnet50,,1,fp16,torch-eager,inference,25,16",
                         "50W,resnet50,,1,fp16,torch-eager,inference,29,20",
                         "MAXN,resnet50,,1,fp16,torch-eager,inference,16,27"};
  for (const char* mode : modes)
    text += "lab,jetson-agx-orin-64gb," + std::string(mode) + ",module\n";
  return text;
}

class ValidateCommand : public ::testing::Test {
 protected:
  ProcessResult validate(const std::string& text, std::vector<std::string> more = {}) {
    folder_.write("t.csv", text);
    more.insert(more.begin(), {"validate", folder_.file("t.csv")});
    return run_ridgeline(more);
  }

  Json json(const std::string& text, std::vector<std::string> more = {}) {
    more.push_back("--json");
    const ProcessResult result = validate(text, std::move(more));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json document = parse_json(result.out, "validation");
    EXPECT_THAT(schema_violations(document, "validation.schema.json"), IsEmpty());
    return document;
  }

  void expect_error(const std::string& text, const std::string& what) {
    const ProcessResult result = validate(text);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err,
                AllOf(StartsWith("ridgeline: " + folder_.file("t.csv")), HasSubstr(what)));
  }

  TemporaryDirectory folder_;
};

TEST_F(ValidateCommand, ScoresEveryRow) {
  const Json result = json(small_table());
  EXPECT_EQ(result["rows"], 4);
  EXPECT_EQ(result["groups"], 1);
  EXPECT_EQ(result["probes"], 0);
  EXPECT_TRUE(result["time_mape"].is_number());
  EXPECT_LT(result["time_mape"].get<double>(), 1);
  EXPECT_TRUE(result["power_mape"].is_number());
  EXPECT_TRUE(result["energy_regret_mean"].is_number());
  EXPECT_EQ(result["board_offsets"].size(), 0U);  // no probes
  double sum = 0;
  for (const Json& row : result["scored"])
    sum +=
        std::abs(row["time_s"]["value"].get<double>() / row["measured_time_s"].get<double>() - 1);
  EXPECT_NEAR(sum / 4, result["time_mape"].get<double>(), 1e-12);
}

TEST_F(ValidateCommand, ScoresUnseenModesOnly) {
  const Json result = json(small_table(), {"--probes", "2"});
  EXPECT_EQ(result["rows"], 2);
  EXPECT_EQ(result["probe_rows"], 2);
  const Json named = json(small_table(), {"--probe-modes", "15W,MAXN"});
  EXPECT_EQ(named["rows"], 2);
  EXPECT_EQ(named["by"]["mode"].size(), 2U);
  EXPECT_TRUE(named["by"]["mode"].contains("30W"));
  const Json none = json(small_table(), {"--probes", "4"});
  EXPECT_EQ(none["rows"], 0);
  EXPECT_EQ(none["skipped"].size(), 4U);
  EXPECT_TRUE(none["time_mape"].is_null());
}

TEST_F(ValidateCommand, TextFitsATerminal) {
  const ProcessResult result = validate(small_table());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("MAPE"));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
  const ProcessResult csv = validate(small_table(), {"--csv"});
  EXPECT_THAT(csv.out, StartsWith("line,source,device,mode,"));
}

TEST_F(ValidateCommand, DrawsThePicture) {
  const std::string path = folder_.file("v.svg");
  EXPECT_EQ(validate(small_table(), {"--svg", path}).exit_code, 0);
  EXPECT_THAT(read_text_file(path), AllOf(StartsWith("<svg"), HasSubstr("</svg>")));
  EXPECT_THAT(validate(small_table(), {"--svg", "-"}).out, StartsWith("<svg"));
  EXPECT_EQ(validate(small_table(), {"--svg", "-", "--json"}).exit_code, 2);
}

TEST_F(ValidateCommand, SkippedRowsAreListedAndAreNoFailure) {
  const Json result = json(small_table() +
                           "lab,jetson-agx-orin-64gb,30W,3d_unet,,1,fp16,tensorrt,inference,9,,\n"
                           "lab,abacus,,resnet50,,1,fp16,tensorrt,inference,9,,\n"
                           "lab,jetson-agx-orin-64gb,30W,vgg16,,64,fp32,tensorrt,inference,5,,\n");
  EXPECT_EQ(result["rows"], 4);
  ASSERT_EQ(result["skipped"].size(), 3U);
  EXPECT_EQ(result["skipped"][0]["line"], 6);
  EXPECT_THAT(result["skipped"][0]["reason"].get<std::string>(), HasSubstr("3d_unet"));
  EXPECT_THAT(result["skipped"][1]["reason"].get<std::string>(), HasSubstr("abacus"));
  EXPECT_THAT(result["skipped"][2]["reason"].get<std::string>(), HasSubstr("contradiction"));
  const Json only = json(table_header + "lab,abacus,,resnet50,,1,fp16,tensorrt,inference,9,,\n");
  EXPECT_EQ(only["rows"], 0);
  EXPECT_TRUE(only["time_mape"].is_null());
}

TEST_F(ValidateCommand, BadTablesAreRefusedInOneLine) {
  expect_error("device,mode,model,batch,dtype,runtime\n", "misses the column time_ms");
  expect_error(table_header + "lab,a10-24gb,,resnet50,,1,fp16,tensorrt,inference,soon,,\n",
               ":2:time_ms: \"soon\" is not a number");
  std::string seconds = small_table();
  for (const char* time : {",40,", ",25,", ",29,", ",16,"}) {
    const auto at = seconds.find(time);
    seconds.replace(at, 4, ",0.0" + std::string(time).substr(1));
  }
  expect_error(seconds, "time_ms looks like seconds");
  expect_error(
      "device,mode,gpu_mhz,model,batch,dtype,runtime,time_ms\n"
      "jetson-agx-orin-64gb,MAXN,1300500,resnet50,1,fp16,tensorrt,2\n",
      "1000 times");
  const ProcessResult missing = run_ridgeline({"validate", folder_.file("none.csv")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.csv"));
}

TEST_F(ValidateCommand, WrongUsage) {
  EXPECT_EQ(run_ridgeline({"validate"}).exit_code, 2);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--probes", "two"},
                                               {"--probes", "1", "--probe-modes", "30W"},
                                               {"--cross-validate", "weather"},
                                               {"--where", "batch"},
                                               {"--where", "colour=red"}}) {
    const ProcessResult result = validate(small_table(), more);
    EXPECT_EQ(result.exit_code, 2) << more[0] << " " << more[1];
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(ValidateCommand, KeepsTheRowsThatAreAskedFor) {
  const Json result = json(small_table(), {"--where", "mode=30W,mode=50W"});
  EXPECT_EQ(result["rows"], 2);
  EXPECT_EQ(result["where"], Json({"mode=30W", "mode=50W"}));
}

Json validated(const std::string& table, const std::string& filter) {
  const ProcessResult result = run_ridgeline({"validate", table, "--where", filter, "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out, "validation");
  EXPECT_THAT(schema_violations(json, "validation.schema.json"), IsEmpty());
  return json;
}

TEST(ValidateTables, PublishedRowsAreScoredOrHaveAReason) {
  const std::string table = measured_table("mlperf_jetson.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no table of Jetsons";
  const Json jetsons = validated(table, "runtime=tensorrt");
  EXPECT_EQ(jetsons["rows"], 24);
  EXPECT_EQ(jetsons["skipped"].size(), 30U);
  EXPECT_EQ(jetsons["replicates"]["sets"], 4);
}

// The run failed (out of memory, idle power) but has a time, which contradicts its roof.
TEST(ValidateTables, ARunThatFailedContradictsTheRoof) {
  const std::string table = measured_table("nvidia_gpus_dvfs.csv");
  if (table.empty()) GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no table of graphics cards";
  const Json card = validated(table, "device=a10-24gb");
  EXPECT_EQ(card["rows"], 46);
  ASSERT_EQ(card["skipped"].size(), 1U);
  EXPECT_EQ(card["skipped"][0]["line"], 36);
  EXPECT_THAT(card["skipped"][0]["reason"].get<std::string>(), HasSubstr("contradiction"));
}

}  // namespace
}  // namespace ridgeline::testing
