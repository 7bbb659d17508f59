// The JSON and CSV forms of a roofline: complete, documented and reproducible to the byte.
// Values are tested in roofline_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "roofline/ceilings/roofline.h"
#include "tests/roofline/made_up_mode.h"
#include "tests/support/paths.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

Roofline example_roofline(bool all = false) {
  const Profile profile = load_profile(source_file("tests/data/profiles/example_cpu.json"));
  RooflineOptions options;
  options.profile = "example_cpu.json";
  options.all = all;
  options.points = {{"gemm, big", 2e9, 48e6, 3.1e-3}, {"softmax", 3e6, 8e6, {}}};
  return roofline_of(profile.modes[0], profile.machine, options);
}

TEST(RooflineJson, ObeysItsSchema) {
  check_schema_file("roofline.schema.json");
  for (const bool all : {false, true}) {
    const Json json = to_json(example_roofline(all));
    EXPECT_EQ(json.begin().key(), "schema");
    EXPECT_EQ(schema_violations(json, "roofline.schema.json"), std::vector<std::string>{});
  }
  ProfileMode memory_only = simple_mode();
  memory_only.compute.clear();
  EXPECT_EQ(schema_violations(to_json(roofline_of(memory_only, made_up_machine(), {})),
                              "roofline.schema.json"),
            std::vector<std::string>{});
}

TEST(RooflineJson, SchemaListsTheKindsOfPoints) {
  std::vector<std::string> words;
  for (const auto& [kind, word] : TokenTable<PointKind>::rows) words.emplace_back(word);
  EXPECT_EQ(schema_enum("roofline.schema.json#/$defs/point_kind"), words);
}

TEST(RooflineJson, SameInputSameBytes) {
  EXPECT_EQ(dump_json(to_json(example_roofline())), dump_json(to_json(example_roofline())));
}

TEST(RooflineCsv, OneRowPerThingAndAsManyCellsAsTitles) {
  const Roofline roofline = example_roofline();
  std::istringstream lines(to_csv(roofline));
  std::string line;
  std::size_t rows = 0;
  std::ptrdiff_t commas = 0;
  while (std::getline(lines, line)) {
    const bool quoted = line.find('"') != std::string::npos;
    const auto count = std::count(line.begin(), line.end(), ',');
    if (rows == 0) commas = count;
    EXPECT_EQ(count, commas + (quoted ? 1 : 0)) << line;  // the point "gemm, big"
    ++rows;
  }
  EXPECT_EQ(rows, 1 + roofline.roofs.size() + roofline.slopes.size() + roofline.ridges.size() +
                      roofline.points.size());
}

}  // namespace
}  // namespace ridgeline::testing
