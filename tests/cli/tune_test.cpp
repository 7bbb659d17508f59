// `ridgeline tune` as a user runs it: forms, files, and what is refused. Networks are executed
// where LibTorch is part of the build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text_file.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"
#include "validation/measurement_table.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A profile with rates of one thread and of four.
std::string profile() { return source_file("tests/data/profiles/example_cpu.json"); }

bool executes_networks() {
  return std::filesystem::exists(build_file("libridgeline_torch.so")) &&
         std::getenv("RIDGELINE_TESTED") == nullptr;
}

ProcessResult tuned(std::vector<std::string> words) {
  words.insert(words.begin(), {"tune", "lenet5", "--profile", profile(), "--seconds", "0.05"});
  return run_ridgeline(words);
}

TEST(TuneCommand, RefusesWhatItCannotTune) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--dtype", "fp16"}, "only fp32"},   {{"--until", "3%"}, "regret=3%"},
      {{"--until", "regret=3"}, "%"},       {{"--until", "regret=0%"}, "--until"},
      {{"--threads", "0"}, "--threads"},    {{"--threads", "100000"}, "CPUs of this machine"},
      {{"--batch", "1,,2"}, "--batch"},     {{"--batch", "many"}, "--batch"},
      {{"--latency", "20"}, "--latency"},   {{"--seconds", "soon"}, "--seconds"},
      {{"--optimizer", "adam"}, "--train"},
  };
  for (const auto& [words, text] : cases) {
    const ProcessResult result = tuned(words);
    EXPECT_EQ(result.exit_code, 2) << words.back();
    EXPECT_THAT(result.err, HasSubstr(text)) << words.back();
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_EQ(run_ridgeline({"tune"}).exit_code, 2);
}

TEST(TuneCommand, NeedsAProfile) {
  const TemporaryDirectory folder;
  ProcessSettings settings;
  settings.environment["XDG_DATA_HOME"] = folder.path();
  const ProcessResult result = run_ridgeline({"tune", "lenet5"}, settings);
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("ridgeline measure"));
}

TEST(TuneCommand, RunsUntilItKnows) {
  if (!executes_networks()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  const std::string table = folder.path() + "/runs.csv";
  const ProcessResult result = tuned(
      {"--batch", "1,4,16", "--threads", "1", "--until", "regret=5%", "--table", table, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_THAT(schema_violations(json, "tuning.schema.json"), IsEmpty());
  EXPECT_EQ(json["settings"].size(), 3u);
  ASSERT_GE(json["runs"].size(), 1u);
  std::set<int> run;
  for (const Json& each : json["runs"]) run.insert(each["setting"].get<int>());
  EXPECT_EQ(run.size(), json["runs"].size());
  const std::size_t choice = json["choice"]["setting"];
  EXPECT_TRUE(run.count(static_cast<int>(choice)));
  EXPECT_TRUE(json["settings"][choice]["time_s"].is_object());
  EXPECT_EQ(json["choice"]["expected_regret"] <= 0.05, json["reached"].get<bool>());
  const MeasurementTable rows = read_measurement_table(table);
  EXPECT_THAT(rows.skipped, IsEmpty());
  EXPECT_EQ(rows.rows.size(), json["runs"].size());
}

TEST(TuneCommand, TheChoiceComesFirst) {
  if (!executes_networks()) GTEST_SKIP() << "built without LibTorch";
  const ProcessResult text = tuned({"--batch", "2", "--threads", "1"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("1 thread, batch 2: "));
  EXPECT_THAT(text.out, HasSubstr("1 run of 1 settings"));
  const ProcessResult csv = tuned({"--batch", "2", "--threads", "1", "--csv"});
  EXPECT_THAT(csv.out, StartsWith("run,threads,batch,"));
}

TEST(TuneCommand, ALimitThatNothingKeeps) {
  if (!executes_networks()) GTEST_SKIP() << "built without LibTorch";
  const ProcessResult result = tuned({"--batch", "4,8", "--threads", "1", "--latency", "1us"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no setting keeps --latency 1us"));
  EXPECT_THAT(result.out, IsEmpty());
}

}  // namespace
}  // namespace ridgeline::testing
