// `ridgeline report` as a user runs it: bytes, size, data, names that mean harm, the choice of the
// page against that of `plan`, and the page in a browser where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.h"
#include "base/json.h"
#include "base/text_file.h"
#include "tests/support/onnx_builder.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t megabyte = 1000 * 1000;

class ReportCommand : public ::testing::Test {
 protected:
  std::string page(std::vector<std::string> arguments, const std::string& name = "page.html") {
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"-o", folder_.file(name)});
    const ProcessResult result = run_ridgeline(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? read_text_file(folder_.file(name)) : "";
  }

  Json data(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"--json", "-o", folder_.file("other.html")});
    const ProcessResult result = run_ridgeline(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  }

  // Skips where no Chromium is installed.
  void drive(const std::string& name) {
    if (is_sanitized()) GTEST_SKIP() << "the page is the same without sanitizers";
    if (!find_in_path("python3")) GTEST_SKIP() << "python3 is not installed";
    const ProcessResult result =
        run_process({"python3", source_file("tools/drive-report"), folder_.file(name)});
    if (result.exit_code == 77) GTEST_SKIP() << "chromium is not installed";
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  TemporaryDirectory folder_;
};

TEST_F(ReportCommand, WritesTheSameBytesForTheSameInput) {
  const std::vector<std::string> command{"resnet50", "mobilenet_v3_large", "--on",
                                         "orin-nano-8gb,agx-orin-64gb"};
  const std::string first = page(command);
  EXPECT_EQ(first, page(command));
  EXPECT_LT(first.size(), megabyte);
}

TEST_F(ReportCommand, NetworksOfHundredsOfLayersInAllModesStayBelowAMegabyte) {
  const std::vector<std::string> command{"resnet101", "--runtime", "torch-eager",         "--tune",
                                         "all",       "--on",      "jetson-agx-orin-64gb"};
  const Json run = data(command)["runs"][0];
  EXPECT_GE(run["types"][0]["name"].size(), 300U);
  EXPECT_GE(run["plan"]["modes"].get<int>(), 15312);
  EXPECT_LT(page(command).size(), megabyte);
}

TEST_F(ReportCommand, LoadsNothingFromAnywhere) {
  const std::string text = page({"resnet18", "--on", "orin-nano-8gb"});
  EXPECT_THAT(text, HasSubstr("default-src 'none'"));
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1))
    EXPECT_EQ(text.substr(at + 3, 10), "www.w3.org") << text.substr(at - 10, 60);
}

TEST_F(ReportCommand, DataFollowItsSchema) {
  EXPECT_THAT(schema_violations(data({"resnet18", "bert_base", "--on", "orin-nano-8gb,jetson-nano",
                                      "--fps", "5"}),
                                "report.schema.json"),
              IsEmpty());
  EXPECT_THAT(schema_violations(data({source_file("tests/data/tensorrt/toy.graph.json"), "--times",
                                      source_file("tests/data/tensorrt/toy.profile.json"), "--on",
                                      "agx-orin-64gb"}),
                                "report.schema.json"),
              IsEmpty());
}

// Runs report/page/choose.js on data and cases, and prints the index of each chosen row.
constexpr const char* choose_in_node = R"(
const fs = require("fs");
const [code, data, cases] = process.argv.slice(1);
require("vm").runInThisContext(fs.readFileSync(code, "utf8"));
const rows = rowsOf(JSON.parse(fs.readFileSync(data)).runs[0].plan);
for (const one of JSON.parse(fs.readFileSync(cases))) console.log(planChoice(rows, one.goal, one));
)";

TEST_F(ReportCommand, ChoosesWhatPlanChoosesUnderAnyLimits) {
  if (!find_in_path("node")) GTEST_SKIP() << "node is not installed";
  const std::vector<std::vector<std::string>> questions{
      {"resnet50", "--on", "jetson-agx-orin-64gb", "--dtype", "fp16"},
      {"mobilenet_v3_large", "--on", "orin-nano-8gb", "--batch", "1,4,16", "--dtype", "fp16,int8"},
      {"resnet50", "--on", "orin-nano-8gb", "--fps", "30", "--dtype", "fp16"},
      {"bert_base", "--on", "jetson-xavier-nx", "--rate", "5/s", "--tune", "all"}};
  std::mt19937 random(20260101);
  const auto between = [&](double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random));
  };
  const auto rounded = [](double value) { return std::stod(std::to_string(value)); };
  std::set<std::string> answers;
  for (const auto& question : questions) {
    const Json asked = data(question);
    const Json& plan = asked["runs"][0]["plan"];
    const auto field = [&](const char* name) {
      const auto& fields = plan["row_fields"];
      return static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) -
                                      fields.begin());
    };
    const auto extent = [&](const char* name) {
      std::pair<double, double> range{INFINITY, 0};
      for (const Json& row : plan["rows"])
        if (const Json& value = row[field(name)]; value.is_number())
          range = {std::min(range.first, value.get<double>()),
                   std::max(range.second, value.get<double>())};
      return range;
    };
    const auto latency = extent("latency_s"), power = extent("power_w");
    Json cases = Json::array();
    std::vector<Json> wanted;
    for (int i = 0; i < 12; ++i) {
      Json limits = {{"goal", std::vector{"energy", "energy", "time", "power",
                                          "edp"}[static_cast<std::size_t>(random() % 5)]},
                     {"latency", nullptr},
                     {"power", nullptr},
                     {"stock", true}};
      std::vector<std::string> command{"plan"};
      command.insert(command.end(), question.begin(), question.end());
      command.insert(command.end(), {"--json", "--minimize", limits["goal"].get<std::string>()});
      if (random() % 4 != 0) {
        const double ms = rounded(1e3 * between(latency.first, 3 * latency.second));
        limits["latency"] = ms / 1e3;
        command.insert(command.end(), {"--latency", std::to_string(ms) + "ms"});
      }
      if (random() % 2 != 0) {
        limits["power"] = rounded(between(power.first, 1.5 * power.second));
        command.insert(command.end(),
                       {"--power", std::to_string(limits["power"].get<double>()) + "W"});
      }
      const ProcessResult result = run_ridgeline(command);
      ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
      wanted.push_back(result.exit_code == 0 ? Json::parse(result.out)["chosen"] : Json());
      cases.push_back(limits);
    }
    folder_.write("data.json", asked.dump());
    folder_.write("cases.json", cases.dump());
    const ProcessResult chosen =
        run_process({"node", "-e", choose_in_node, source_file("report/page/choose.js"),
                     folder_.file("data.json"), folder_.file("cases.json")});
    ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
    std::istringstream lines(chosen.out);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      int row = -2;
      lines >> row;
      const std::string which = question.front() + " " + cases[i].dump();
      EXPECT_EQ(row < 0, wanted[i].is_null()) << which;
      if (row < 0 || wanted[i].is_null()) {
        answers.insert("none");
        continue;
      }
      const Json& found = plan["rows"][static_cast<std::size_t>(row)];
      const Json& service = wanted[i]["service"];
      EXPECT_EQ(found[field("batch")], wanted[i]["batch"]) << which;
      EXPECT_EQ(found[field("dtype")], wanted[i]["dtype"]) << which;
      EXPECT_NEAR(found[field("latency_s")].get<double>() / service["latency_s"].get<double>(), 1,
                  1e-9)
          << which;
      EXPECT_NEAR(found[field("energy_j")].get<double>() / service["energy_j"].get<double>(), 1,
                  1e-9)
          << which;
      answers.insert(question.front() + found[field("mode")].get<std::string>());
    }
  }
  EXPECT_GT(answers.size(), 10U);  // limits of all kinds, not one answer to all
}

// A chain of products whose names mean harm.
std::string hostile_model() {
  const std::vector<std::string> names{"</script><script>alert(1)</script>",
                                       "<img src=x onerror=alert(2)>",
                                       "a\"b'c`d\\e{{title}}$(touch pwned)",
                                       "\xff\xfe broken \xc3( bytes",
                                       "=HYPERLINK(\"x\")\n\r\t\x01",
                                       std::string(10000, 'W'),
                                       "<!--",
                                       "層.畳み込み.3 طبقة 🚀"};
  OnnxBuilder graph;
  graph.opset(17);
  std::string last = "x";
  graph.input("x", ElementType::fp32, {64, 256});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string weights = "w" + std::to_string(i), next = "y" + std::to_string(i);
    graph.initializer(weights, ElementType::fp32, {256, 256});
    graph.node("MatMul", {last, weights}, {next}).name(names[i]);
    last = next;
  }
  graph.output(last, ElementType::fp32, {64, 256});
  return graph.bytes();
}

TEST_F(ReportCommand, NamesNeitherBreakThePageNorRunInIt) {
  folder_.write("<script>alert(3)<.onnx", hostile_model());
  const std::string text = page({folder_.file("<script>alert(3)<.onnx"), "--on", "orin-nano-8gb"});
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("\xff")));
  EXPECT_EQ(text.find("<!--", text.find("<body>")), std::string::npos);
  drive("page.html");
}

TEST_F(ReportCommand, ADriverFindsThePageWorking) {
  page(
      {"resnet50", "mobilenet_v3_large", "--on", "orin-nano-8gb,agx-orin-64gb", "--dtype", "fp16"});
  drive("page.html");
}

TEST_F(ReportCommand, ADriverFindsMeasuredTimesWorking) {
  page({source_file("tests/data/tensorrt/toy.graph.json"), "--times",
        source_file("tests/data/tensorrt/toy.profile.json"), "--on", "agx-orin-64gb"});
  drive("page.html");
}

}  // namespace
}  // namespace ridgeline::testing
