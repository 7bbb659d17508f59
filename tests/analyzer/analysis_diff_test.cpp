// Comparison of two analyses: what is matched, and what counts as a change.
// The command's text is tested in tests/cli/analyze_test.cpp.
#include "analyzer/analysis_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AnalysisRow layer(const std::string& name, const std::string& op, double flop) {
  AnalysisRow row;
  row.name = name;
  row.op = op;
  row.dtype = "fp32";
  add_flop(row.work, Unit::vector, DType::fp32, flop);
  row.work.bytes_read = 10;
  return row;
}

Analysis network(std::vector<AnalysisRow> rows) {
  Analysis analysis;
  analysis.rows = std::move(rows);
  analysis.model.format = "onnx";
  sum_rows(analysis);
  return analysis;
}

TEST(AnalysisDiff, TheSameIsTheSame) {
  const Analysis one = network({layer("a", "Relu", 1), layer("b", "Relu", 2)});
  const AnalysisDiff difference = diff(one, one);
  EXPECT_EQ(difference.same, 2u);
  EXPECT_THAT(difference.changed, IsEmpty());
  EXPECT_THAT(difference.added, IsEmpty());
  EXPECT_THAT(difference.removed, IsEmpty());
}

TEST(AnalysisDiff, AddedRemovedChanged) {
  const AnalysisDiff difference =
      diff(network({layer("a", "Relu", 1), layer("b", "Conv", 2), layer("c", "Add", 3)}),
           network({layer("a", "Relu", 5), layer("c", "Add", 3), layer("d", "Mul", 7)}));
  EXPECT_EQ(difference.same, 1u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].before.name, "a");
  EXPECT_THAT(difference.changed[0].what, ElementsAre("flops"));
  ASSERT_EQ(difference.removed.size(), 1u);
  EXPECT_EQ(difference.removed[0].name, "b");
  ASSERT_EQ(difference.added.size(), 1u);
  EXPECT_EQ(difference.added[0].name, "d");
}

TEST(AnalysisDiff, WhatNoNameMatchesIsMatchedByOperatorAndOrder) {
  const AnalysisDiff difference =
      diff(network({layer("Conv_0", "Conv", 1), layer("Conv_3", "Conv", 2)}),
           network({layer("/a/Conv", "Conv", 1), layer("/b/Conv", "Conv", 9)}));
  EXPECT_EQ(difference.same, 1u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].after.name, "/b/Conv");
  EXPECT_EQ(difference.changed[0].matched_by, MatchedBy::order);
}

TEST(AnalysisDiff, EqualNamesAreMatchedInOrder) {
  const AnalysisDiff difference =
      diff(network({layer("x", "Relu", 1), layer("x", "Relu", 2)}),
           network({layer("x", "Relu", 1), layer("x", "Relu", 2), layer("x", "Relu", 3)}));
  EXPECT_EQ(difference.same, 2u);
  EXPECT_EQ(difference.added.size(), 1u);
}

TEST(AnalysisDiff, FoldedLayersAreNotCompared) {
  AnalysisRow folded = layer("constant", "Constant", 0);
  folded.standing = Standing::folded;
  const AnalysisDiff difference = diff(network({folded}), network({}));
  EXPECT_THAT(difference.removed, IsEmpty());
  EXPECT_EQ(difference.same, 0u);
}

TEST(AnalysisDiff, JsonFitsItsSchemaAndHasRatios) {
  const Json json = to_json(diff(network({layer("a", "Relu", 2), layer("b", "Conv", 2)}),
                                 network({layer("a", "Relu", 4), layer("c", "Add", 2)})));
  EXPECT_THAT(schema_violations(json, "analysis_diff.schema.json"), IsEmpty());
  EXPECT_EQ(json["ratios"]["flops"], 1.5);
  EXPECT_TRUE(json["ratios"]["macs"].is_null());
  EXPECT_EQ(json["changed"][0]["what"], Json::array({"flops"}));
}

}  // namespace
}  // namespace ridgeline::testing
