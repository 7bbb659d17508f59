// Catalog files: each validates, reads back as written and reproduces the vendor's published
// figures. A failure names the file and the field.
#include "devices/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "report/device.h"
#include "tests/base/error_line.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using catalog::Device;
using ::testing::IsEmpty;

const std::string folder = source_file("devices/catalog");

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// All ids that a document uses as sources.
void collect_sources(const Json& json, std::set<std::string>& ids) {
  if (json.is_array())
    for (const Json& item : json) collect_sources(item, ids);
  if (!json.is_object()) return;
  for (const auto& [key, member] : json.items())
    if (key == "source")
      ids.insert(member.get<std::string>());
    else
      collect_sources(member, ids);
}

class CatalogFile : public ::testing::TestWithParam<std::string> {};

TEST_P(CatalogFile, Validates) {
  const Json document = read_json_file(folder + "/" + GetParam());
  EXPECT_THAT(schema_violations(document, "device.schema.json"), IsEmpty()) << GetParam();
  Device device;
  ASSERT_NO_THROW(device = catalog::device_from_json(file_cursor(document, GetParam())));
  EXPECT_EQ(device.id + ".json", GetParam());
  EXPECT_TRUE(std::none_of(device.id.begin(), device.id.end(), [](char c) {
    return c >= 'A' && c <= 'Z';
  })) << device.id;
}

TEST_P(CatalogFile, IsCompiledIn) {
  const std::string id = GetParam().substr(0, GetParam().size() - 5);
  const Json document = read_json_file(folder + "/" + GetParam());
  EXPECT_EQ(catalog::load(id), catalog::device_from_json(file_cursor(document, GetParam())));
}

TEST_P(CatalogFile, SurvivesWritingAndReading) {
  const Device device = catalog::load(GetParam().substr(0, GetParam().size() - 5));
  const Json json = to_json(device);
  EXPECT_THAT(schema_violations(json, "device.schema.json"), IsEmpty());
  EXPECT_EQ(catalog::device_from_json(JsonCursor(json, "")), device);
}

TEST_P(CatalogFile, UsesEverySourceThatItLists) {
  const Json document = read_json_file(folder + "/" + GetParam());
  std::set<std::string> used;
  collect_sources(document, used);
  for (const Json& source : document["sources"])
    EXPECT_EQ(used.count(source["id"].get<std::string>()), 1U) << source["id"];
}

// Checks units and clocks. A rate that was inferred from a figure (its source says so) reproduces
// it trivially.
TEST_P(CatalogFile, ReproducesPublishedFiguresWithinOnePercent) {
  const DeviceFacts facts =
      device_facts(catalog::load(GetParam().substr(0, GetParam().size() - 5)));
  for (const PublishedCheck& check : facts.published) {
    ASSERT_TRUE(check.computed_per_s) << GetParam() << ": " << check.published.quantity;
    const double published = check.published.per_s.value;
    EXPECT_NEAR(*check.computed_per_s, published, 0.01 * published)
        << GetParam() << ": " << check.published.quantity;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CatalogFile, ::testing::ValuesIn(file_names()),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(Catalog, HasEveryDeviceThatIsPromised) {
  for (const char* id : {"jetson-nano",
                         "jetson-tx2",
                         "jetson-tx2-nx",
                         "jetson-agx-xavier",
                         "jetson-xavier-nx",
                         "jetson-agx-orin-32gb",
                         "jetson-agx-orin-64gb",
                         "jetson-orin-nx-8gb",
                         "jetson-orin-nx-16gb",
                         "jetson-orin-nano-4gb",
                         "jetson-orin-nano-8gb",
                         "jetson-agx-thor-t5000",
                         "jetson-agx-thor-t4000",
                         "t4-16gb",
                         "rtx-2080-ti-11gb",
                         "a10-24gb",
                         "a100-40gb-pcie",
                         "a100-80gb-pcie",
                         "a100-80gb-sxm",
                         "titan-rtx-24gb",
                         "rtx-3060-12gb",
                         "rtx-3090-24gb",
                         "l4-24gb",
                         "l40s-48gb",
                         "rtx-4090-24gb",
                         "h100-80gb-pcie",
                         "h100-80gb-sxm",
                         "rtx-5090-32gb",
                         "b200-180gb-sxm",
                         "generic-x86-64",
                         "generic-aarch64"}) {
    const catalog::IndexRow* row = catalog::find(id);
    ASSERT_NE(row, nullptr) << id;
    EXPECT_EQ(row->id, id);
  }
  EXPECT_EQ(catalog::index().size(), file_names().size());
}

TEST(Catalog, ManyDevicesHaveAPublishedComputePeak) {
  int devices = 0;
  for (const catalog::IndexRow& row : catalog::index()) {
    const Device device = catalog::load(row.id);
    devices += std::any_of(device.published.begin(), device.published.end(),
                           [](const auto& each) { return each.unit.has_value(); });
  }
  EXPECT_GE(devices, 20);
}

TEST(Catalog, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const catalog::IndexRow& row : catalog::index()) {
    EXPECT_TRUE(names.insert(row.id).second) << row.id;
    for (const std::string_view alias : row.aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

TEST(Catalog, IndexIsSortedById) {
  const auto rows = catalog::index();
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                             [](const auto& a, const auto& b) { return a.id < b.id; }));
}

TEST(Catalog, IsFoundByAliasInAnyCase) {
  EXPECT_EQ(catalog::load("AGX-Orin").id, "jetson-agx-orin-64gb");
  EXPECT_EQ(catalog::load("orin-nano").id, "jetson-orin-nano-8gb");
  EXPECT_EQ(catalog::load("H100").id, "h100-80gb-sxm");
  EXPECT_EQ(catalog::find("no such thing"), nullptr);
}

TEST(Catalog, UnknownNamesGetTheNearest) {
  EXPECT_EQ(error_line([] { catalog::load("jetson-agx-oriin-64gb", "--on"); }),
            "--on: the catalog has no device \"jetson-agx-oriin-64gb\" (did you mean "
            "jetson-agx-orin-64gb?)");
  EXPECT_EQ(error_line([] { catalog::load("zzzzzzzz", "--on"); }),
            "--on: the catalog has no device \"zzzzzzzz\" (see 'ridgeline devices')");
  EXPECT_EQ(error_line([] { catalog::load(""); }),
            "the catalog has no device \"\" (see 'ridgeline devices')");
}

TEST(Catalog, ConfigurationsAreChosenByRelease) {
  const Device nano = catalog::load("jetson-orin-nano-8gb");
  EXPECT_EQ(catalog::configuration(nano).id, "super");
  EXPECT_EQ(catalog::configuration(nano, "6").id, "super");
  EXPECT_EQ(catalog::configuration(nano, "6.2.1").id, "super");
  EXPECT_EQ(catalog::configuration(nano, "6.1").id, "jetpack-5");
  EXPECT_EQ(catalog::configuration(nano, "5").id, "jetpack-5");
  EXPECT_EQ(catalog::configuration(nano, "5.1.2").id, "jetpack-5");
  const Device agx = catalog::load("jetson-agx-orin-64gb");
  EXPECT_EQ(catalog::configuration(agx, "5.0").id, "jetpack-5.0");
  EXPECT_EQ(catalog::configuration(agx, "5").id, "jetpack-6");
  EXPECT_EQ(error_line([&] { catalog::configuration(agx, "4"); }),
            "--jetpack: jetson-agx-orin-64gb has no configuration for JetPack \"4\" (known are 6, "
            "5.1, 5.0)");
  EXPECT_EQ(error_line([&] { catalog::configuration(catalog::load("t4"), "5"); }),
            "--jetpack: t4-16gb has no configuration for JetPack \"5\" (it has no JetPack "
            "releases)");
}

// A contributor's mistakes and their messages.
struct BrokenFile {
  const char* pointer;
  Json value;
  std::string line;
};

TEST(Catalog, BrokenFilesAreNamedWithTheirField) {
  const Json good = to_json(catalog::load("jetson-orin-nano-8gb"));
  const std::vector<BrokenFile> cases = {
      {"/gpu/multiprocessors/source", "rumour",
       "gpu.multiprocessors.source: no source has the id \"rumour\""},
      {"/gpu/multiprocessors/value", "eight",
       "gpu.multiprocessors.value: needs a number, is a string"},
      {"/gpu/rates/0/dtype", "fp12",
       "gpu.rates[0].dtype: unknown dtype \"fp12\", known are fp64, fp32, tf32, fp16, bf16, fp8, "
       "fp4, int32, int16, int8, int4"},
      {"/configurations/0/default_mode", 9, "configurations[0].default_mode: no mode has this id"},
      {"/configurations/0/modes/1/id", 0,
       "configurations[0].modes[1].id: not above the id before "
       "it"},
      {"/configurations/0/modes/0/cores", Json::array({4}),
       "configurations[0].modes[0].cores: has 1 entries for 2 clusters"},
      {"/configurations/0/modes/0/gpu_max_hz", -2,
       "configurations[0].modes[0].gpu_max_hz: neither -1 nor a clock in Hz"},
      {"/configurations/0/gpu/steps/0/hz/1", 306000000,
       "configurations[0].gpu.steps: 306000000 Hz is there twice"},
      {"/configurations", Json::array(), "configurations: is empty"},
      {"/sources/1/id", good["sources"][0]["id"], "sources[1].id: is there twice"},
      {"/gpu/voltage/points/1/hz", 1, "gpu.voltage.points[1].hz: not above the clock before it"},
      {"/cpu/0/clusters", 100000, "cpu[0].clusters: too many"},
  };
  for (const BrokenFile& broken : cases) {
    Json document = good;
    document[Json::json_pointer(broken.pointer)] = broken.value;
    EXPECT_EQ(error_line([&] { catalog::device_from_json(file_cursor(document, "x.json")); }),
              "x.json: " + broken.line);
  }
}

TEST(Catalog, StepsMayBeGivenAsARange) {
  Json document = to_json(catalog::load("jetson-nano"));
  Json& group = document["configurations"][0]["gpu"]["steps"][0];
  const std::string source = group["source"];
  group = {{"from_hz", 100}, {"to_hz", 300}, {"step_hz", 50}, {"source", source}};
  const Device device = catalog::device_from_json(JsonCursor(document, ""));
  std::vector<double> clocks;
  for (const auto& step : device.configurations[0].gpu.steps) clocks.push_back(step.hz);
  EXPECT_EQ(clocks, (std::vector<double>{100, 150, 200, 250, 300}));
  group["step_hz"] = 0;
  EXPECT_EQ(error_line([&] { catalog::device_from_json(JsonCursor(document, "")); }),
            "configurations[0].gpu.steps[0].step_hz: does not lead from from_hz to to_hz");
  group["step_hz"] = 70;
  EXPECT_NE(error_line([&] { catalog::device_from_json(JsonCursor(document, "")); }), "no error");
  group = {{"from_hz", 1}, {"to_hz", 1e11}, {"step_hz", 1}, {"source", source}};
  EXPECT_NE(error_line([&] { catalog::device_from_json(JsonCursor(document, "")); }), "no error");
}

TEST(Catalog, TokenWordsAreThoseOfTheSchema) {
  const auto words = [](const auto& rows) {
    std::vector<std::string> list;
    for (const auto& row : rows) list.emplace_back(row.second);
    return list;
  };
  EXPECT_EQ(schema_enum("device.schema.json#/properties/kind"),
            words(TokenTable<catalog::Kind>::rows));
  EXPECT_EQ(schema_enum("device.schema.json#/$defs/confidence"),
            words(TokenTable<catalog::Confidence>::rows));
  EXPECT_EQ(schema_enum("device.schema.json#/$defs/rail_role"),
            words(TokenTable<catalog::RailRole>::rows));
}

}  // namespace
}  // namespace ridgeline::testing
