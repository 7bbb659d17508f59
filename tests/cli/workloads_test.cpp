// `ridgeline workloads` end to end: list, one network, formats, a wrong name.
// The networks themselves are tested in tests/workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "base/text_table.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "workloads/registry.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(WorkloadsCommand, ListsAllWithTheirSources) {
  const ProcessResult result = run_ridgeline({"workloads"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const Workload& workload : all_workloads())
    EXPECT_THAT(result.out, HasSubstr("\n" + std::string(workload.name) + " "));
  EXPECT_THAT(result.out,
              HasSubstr("resnet50                        25.56 M  4.089 G  1x3x224x224"));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(WorkloadsCommand, ShowsOneWithItsOptions) {
  const ProcessResult result = run_ridgeline({"workloads", "llama-3.2-1b"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("llama-3.2-1b\n"));
  EXPECT_THAT(result.out, HasSubstr("huggingface.co/meta-llama/Llama-3.2-1B"));
  EXPECT_THAT(result.out, HasSubstr("1235814400"));
  EXPECT_THAT(result.out, HasSubstr("159249334272"));
  EXPECT_THAT(result.out, HasSubstr("--phase prefill|decode"));
  EXPECT_THAT(result.out, HasSubstr("input_ids 1x128 int64"));
}

TEST(WorkloadsCommand, HasJsonForAllAndForOne) {
  const Json all = parse_json(run_ridgeline({"workloads", "--json"}).out, "all");
  EXPECT_THAT(schema_violations(all, "workloads.schema.json"), IsEmpty());
  ASSERT_EQ(all["workloads"].size(), all_workloads().size());
  EXPECT_FALSE(all["workloads"][0].contains("layers"));

  const Json one = parse_json(run_ridgeline({"workloads", "resnet50", "--json"}).out, "one");
  EXPECT_THAT(schema_violations(one, "workloads.schema.json"), IsEmpty());
  const Json& network = one["workloads"].at(0);
  EXPECT_EQ(network["parameters"], 25'557'032);
  EXPECT_EQ(network["macs"], 4'089'184'256);
  double macs = 0, parameters = 0;
  for (const Json& layer : network["layers"]) {
    macs += layer["macs"].get<double>();
    parameters += layer["parameters"].get<double>();
  }
  EXPECT_EQ(macs, 4'089'184'256);
  EXPECT_EQ(parameters, 25'557'032);
  EXPECT_EQ(network["layer_count"], network["layers"].size());
}

TEST(WorkloadsCommand, OptionsOfTheSchemaAreThoseOfTheProgram) {
  std::vector<std::string> words;
  for (const auto& row : TokenTable<WorkloadOption>::rows) words.emplace_back(row.second);
  EXPECT_EQ(schema_enum("workloads.schema.json#/$defs/option/properties/name"), words);
}

TEST(WorkloadsCommand, HasCsv) {
  EXPECT_THAT(run_ridgeline({"workloads", "--csv"}).out,
              HasSubstr("\nresnet50,resnet,25557032,4089184256,175,torchvision,https://"));
  EXPECT_THAT(run_ridgeline({"workloads", "lenet5", "--csv"}).out,
              StartsWith("layer,op,macs,parameters\nconv1,Conv,117600,156\n"));
}

TEST(WorkloadsCommand, AnUnknownNameIsOneLine) {
  const ProcessResult result = run_ridgeline({"workloads", "resnet51"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "ridgeline: workload 'resnet51': no network and no file has this name (did you mean "
            "resnet50?)\n");
}

}  // namespace
}  // namespace ridgeline::testing
