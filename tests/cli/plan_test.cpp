// `ridgeline plan` end to end: every format, agreement with `explain`, and every error.
// Properties of plans are in tests/planner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
using ::testing::StartsWith;

using Words = std::vector<std::string>;

ProcessResult plan_run(Words arguments) {
  arguments.insert(arguments.begin(), "plan");
  return run_ridgeline(arguments);
}

Words plan_with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json plan_json(const Words& arguments) {
  const ProcessResult result = plan_run(plan_with(arguments, {"--json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return parse_json(result.out, "output");
}

const Words nano{"resnet50", "--on", "jetson-orin-nano-8gb", "--runtime", "tensorrt"};

TEST(PlanCommand, TextBeginsWithTheModeAndFitsEightyColumns) {
  const ProcessResult result =
      plan_run(plan_with(nano, {"--latency", "20ms", "--power", "17W", "--batch", "1,2",
                                "--explain", "--why", "25W"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("mode 15W: sudo nvpmodel -m 0 && sudo jetson_clocks\n"));
  for (const char* part :
       {"3 stock modes", "90 % interval", "against the default mode", "against the fastest mode",
        "met with probability", "alternatives", "Pareto front", "to be sure, measure",
        "one step of each knob", "why not 25W"})
    EXPECT_THAT(result.out, HasSubstr(part));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

// A mode that is no stock mode is led with only where no stock mode meets the limits.
TEST(PlanCommand, ACustomModeLeadsIfNoStockModeMeetsTheLimits) {
  const ProcessResult result = plan_run(plan_with(nano, {"--power", "9W", "--tune", "all"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("mode: gpu="));
  std::string text = result.out;
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_THAT(text, HasSubstr("no stock mode meets"));
  EXPECT_THAT(text, HasSubstr("nearest stock mode: 15W"));
}

TEST(PlanCommand, JsonValidates) {
  for (const Words& more : {Words{}, Words{"--fps", "10", "--why", "MAXN_SUPER"},
                            Words{"--stock-only", "--max-slowdown", "30%"},
                            Words{"--reach", "live", "--rate", "10/s", "--latency", "200ms@p95"}})
    EXPECT_THAT(schema_violations(plan_json(plan_with(nano, more)), "plan.schema.json"), IsEmpty());
}

TEST(PlanCommand, EveryNumberIsThatOfExplain) {
  for (const Words& more :
       {Words{"--latency", "20ms"}, Words{"--batch", "1,2,4", "--dtype", "fp16,int8"},
        Words{"--stock-only"}, Words{"--fps", "5"}}) {
    const Json chosen = plan_json(plan_with(nano, more)).at("chosen");
    const ProcessResult result = run_ridgeline(plan_with(
        Words{"explain"},
        plan_with(nano, {"--json", "--mode", chosen.at("mode").at("request").get<std::string>(),
                         "--batch", std::to_string(chosen.at("batch").get<int>()), "--dtype",
                         chosen.at("dtype").get<std::string>()})));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json explained = parse_json(result.out, "output");
    for (const char* part : {"time_s", "power_w", "energy_j", "bound"})
      EXPECT_EQ(chosen.at(part), explained.at(part)) << part;
    EXPECT_EQ(chosen.at("energy_j").at("value").get<double>(),
              chosen.at("power_w").at("value").get<double>() *
                  chosen.at("time_s").at("value").get<double>());
  }
}

TEST(PlanCommand, CsvHasEveryModeAndOneChoice) {
  const ProcessResult result = plan_run(plan_with(nano, {"--csv", "--filter", "emc=max,cores=4"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, StartsWith("mode,label,stock,reach,gpu_units,gpu_hz"));
  int rows = 0, chosen = 0;
  for (; std::getline(lines, line); ++rows) chosen += line.ends_with(",true");
  EXPECT_GT(rows, 50);
  EXPECT_EQ(chosen, 1);
}

TEST(PlanCommand, WritesThePictureAndTheBlock) {
  const TemporaryDirectory folder;
  const std::string svg = folder.path() + "/plan.svg", block = folder.path() + "/custom.conf";
  const ProcessResult result =
      plan_run(plan_with(nano, {"--latency", "20ms", "--svg", svg, "--nvpmodel", block}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(read_text_file(svg), StartsWith("<svg"));
  EXPECT_THAT(read_text_file(block), StartsWith("< POWER_MODEL ID="));
}

TEST(PlanCommand, WithoutAnAnswerTheExitCodeIsThree) {
  const ProcessResult result = plan_run(plan_with(nano, {"--latency", "1ms", "--json"}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("nearest is"));
  EXPECT_THAT(result.err, HasSubstr("relax latency to"));
  EXPECT_EQ(plan_run(plan_with(nano, {"--filter", "gpu>5GHz"})).exit_code, 3);
}

struct BadInput {
  Words words;
  const char* says;
};

TEST(PlanCommand, BadInputIsOneLine) {
  const BadInput table[] = {
      {{"--latency", "10"}, "the unit is missing (write 10ms or 10s)"},
      {{"--power", "20"}, "the unit is missing (write 20W or 20mW)"},
      {{"--rate", "60"}, "the unit is missing (write 60/s)"},
      {{"--max-slowdown", "5"}, "the unit is missing (write 5%)"},
      {{"--latency", "0ms"}, "must be more than zero"},
      {{"--latency", "-1ms"}, "is negative"},
      {{"--latency", "10ms@95"}, "is not a quantile"},
      {{"--latency", "10ms@p100"}, "from p50 to p99.9"},
      {{"--latency", "nanms"}, "is not a time"},
      {{"--throughput", "many/s"}, "is not a number"},
      {{"--battery", "50Wh"}, "needs both energy and time"},
      {{"--hours", "4"}, "needs both energy and time"},
      {{"--fps", "30", "--rate", "30/s"}, "cannot be combined with --fps"},
      {{"--fps", "30", "--batch", "8", "--latency", "50ms"}, "contradicts the rate and the batch"},
      {{"--minimize", "cost"}, "is not one of energy, time, power, edp"},
      {{"--reach", "now"}, "is not one of live, reboot"},
      {{"--risk", "1.5"}, "from 0.5 to 0.99"},
      {{"--batch", "1,,2"}, "is empty"},
      {{"--batch", "0"}, "0"},
      {{"--dtype", "fp17"}, "did you mean fp16?"},
      {{"--why", "31W"}, "31W"},
      {{"--filter", "gpus=5"}, "gpus"},
      {{"--svg", "/no/such/folder/a.svg"}, "/no/such/folder"},
  };
  for (const BadInput& bad : table) {
    const ProcessResult result = plan_run(plan_with(nano, bad.words));
    EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 1) << bad.says;
    EXPECT_THAT(result.err, HasSubstr(bad.says));
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(plan_run({}).exit_code, 2);
  EXPECT_THAT(plan_run({"resnet5O", "--on", "jetson-orin-nano-8gb"}).err, HasSubstr("resnet50"));
  EXPECT_THAT(plan_run({"resnet50", "--on", "jetson-orin-nano-8g"}).err,
              HasSubstr("jetson-orin-nano-8gb"));
}

TEST(PlanCommand, AMachineWithoutPowerIsPlannedForTimeOnly) {
  const std::string profile = source_file("tests/data/profiles/example_cpu.json");
  const ProcessResult energy = plan_run({"resnet18", "--on", profile});
  EXPECT_EQ(energy.exit_code, 4);
  EXPECT_THAT(energy.err, HasSubstr("--minimize time"));
  const Json plan =
      plan_json({"resnet18", "--on", profile, "--minimize", "time", "--batch", "1,4"});
  EXPECT_TRUE(plan.at("chosen").at("energy_j").is_null());
  EXPECT_THAT(schema_violations(plan, "plan.schema.json"), IsEmpty());
}

}  // namespace
}  // namespace ridgeline::testing
