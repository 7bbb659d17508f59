// docs/schemas match the code: documents validate, enum words are those of the token tables.
// Also tests the validator itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "base/json.h"
#include "base/profile.h"
#include "tests/base/sample_nouns.h"
#include "tests/base/sample_profile.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class E>
std::vector<std::string> token_words() {
  std::vector<std::string> words;
  for (const auto& row : TokenTable<E>::rows) words.emplace_back(row.second);
  return words;
}

template <class E>
void expect_same_words(const std::string& definition) {
  EXPECT_EQ(schema_enum("common.schema.json#/$defs/" + definition), token_words<E>()) << definition;
}

TEST(Schema, EnumWordsAreTheTokenTables) {
  expect_same_words<Processor>("processor");
  expect_same_words<Unit>("unit");
  expect_same_words<DType>("dtype");
  expect_same_words<Level>("level");
  expect_same_words<Direction>("direction");
  expect_same_words<Source>("source");
  expect_same_words<Status>("status");
  expect_same_words<Runtime>("runtime");
  expect_same_words<Reach>("reach");
  expect_same_words<KernelKind>("kernel_kind");
  expect_same_words<KernelTrait>("kernel_trait");
  expect_same_words<OpClass>("op_class");
  expect_same_words<BoundBy>("bound_by");
  EXPECT_EQ(schema_enum("profile.schema.json#/$defs/run_state"), token_words<RunState>());
  EXPECT_EQ(schema_enum("profile.schema.json#/$defs/idle_state"), token_words<IdleState>());
}

TEST(Schema, EveryFileUsesKnownKeywordsAndItsReferencesResolve) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("docs/schemas"))) {
    EXPECT_NO_THROW(check_schema_file(entry.path().filename().string())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST(Schema, DocumentsValidate) {
  EXPECT_THAT(schema_violations(to_json(sample_profile()), "profile.schema.json"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(sample_model()), "machine_model.schema.json"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(sample_ceilings()), "ceilings.schema.json"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(Ceilings{}), "ceilings.schema.json"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(sample_prediction()), "prediction.schema.json"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(sample_demand()), "common.schema.json#/$defs/demand"),
              IsEmpty());
  EXPECT_THAT(schema_violations(to_json(Demand{}), "common.schema.json#/$defs/demand"), IsEmpty());
  EXPECT_THAT(schema_violations(to_json(ModeRequest{}), "common.schema.json#/$defs/mode_request"),
              IsEmpty());
  EXPECT_THAT(schema_violations(to_json(parse_mode_request("gpu=612MHz,cores=4,cap=30W")),
                                "common.schema.json#/$defs/mode_request"),
              IsEmpty());
}

// Every key that is always written is required.
TEST(Schema, EveryKeyOfAProfileIsRequired) {
  const Json sample = to_json(sample_profile());
  for (const char* pointer :
       {"", "/machine", "/machine/caches/0", "/modes/0", "/modes/0/mode", "/modes/0/conditions",
        "/modes/0/conditions/rows", "/modes/0/conditions/verdict", "/modes/0/compute/0",
        "/modes/0/memory/0", "/modes/0/sweep/0", "/modes/0/latency/0",
        "/modes/0/launch/fork_join/0", "/modes/0/transfer/0", "/modes/0/storage/0",
        "/modes/0/decode/0", "/modes/0/energy/fits/0", "/machine/gpus/0",
        "/modes/0/compute/0/flops_per_s"}) {
    const Json object = sample.at(Json::json_pointer(pointer));
    for (const auto& [key, value] : object.items()) {
      Json broken = sample;
      broken.at(Json::json_pointer(pointer)).erase(std::string(key));
      EXPECT_EQ(schema_violations(broken, "profile.schema.json").size(), 1u) << pointer << key;
    }
  }
}

TEST(SchemaValidator, FindsWhatIsWrong) {
  const auto violations = [](const char* pointer, const Json& value) {
    Json json = to_json(sample_profile());
    json[Json::json_pointer(pointer)] = value;
    return schema_violations(json, "profile.schema.json");
  };
  EXPECT_THAT(violations("/tool", 5), ElementsAre("tool: is 5, not of type \"string\""));
  EXPECT_THAT(violations("/schema", "x"),
              ElementsAre("schema: is \"x\", not \"ridgeline.profile/1\""));
  EXPECT_THAT(violations("/new", 5), ElementsAre("new: is not in the schema"));
  EXPECT_THAT(violations("/modes", Json::array()), ElementsAre("modes: has too few items"));
  EXPECT_THAT(violations("/machine/cores", 1e7),
              ElementsAre("machine.cores: 10000000.0 is above the maximum"));
  EXPECT_THAT(violations("/machine/cores", -1),
              ElementsAre("machine.cores: -1 is below the minimum"));
  EXPECT_THAT(violations("/machine/cores", 1.5),
              ElementsAre("machine.cores: is 1.5, not of type \"integer\""));
  EXPECT_EQ(violations("/modes/0/compute/0/unit", "tensor").size(), 1u);
  EXPECT_EQ(violations("/modes/0/idle_power_w", 5).size(), 1u);
  EXPECT_EQ(violations("/modes/0/launch/other", 5).size(), 1u);
  MachineModel nameless = sample_model();
  nameless.parameters[0].name.clear();
  EXPECT_EQ(schema_violations(to_json(nameless), "machine_model.schema.json").size(), 1u);
  EXPECT_THROW(schema_violations(Json(), "common.schema.json#/$defs/none"), std::runtime_error);
  // "$defs" itself is not a schema: its members are not keywords.
  EXPECT_THROW(schema_violations(Json(), "common.schema.json#/$defs"), std::runtime_error);
}

}  // namespace
}  // namespace ridgeline::testing
