// Comparison of two analyses: how rows are matched, and what counts as a change.
// The command's text is tested in tests/cli/analyze_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/analysis/diff.h"
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

AnalysisRow product(const char* name, const char* op, double macs) {
  AnalysisRow row = layer(name, op, 2 * macs);
  row.work.macs = macs;
  return row;
}

// Layer names of a torch network against those of its ONNX export.
TEST(AnalysisDiff, ModulesAreMatchedAcrossWaysToWriteThem) {
  const AnalysisDiff difference =
      diff(network({product("block.1.0.qkv", "MatMul", 3),
                    product("block.1.0.attention", "Attention", 8),
                    product("block.1.0.proj", "MatMul", 1), layer("block.1.0.add", "Add", 5)}),
           network({layer("/block/block.1/block.1.0/qkv/Add", "Add", 9),
                    product("/block/block.1/block.1.0/MatMul", "MatMul", 3),
                    product("/block/block.1/block.1.0/MatMul_1", "MatMul", 4),
                    product("/block/block.1/block.1.0/MatMul_2", "MatMul", 4),
                    product("/block/block.1/block.1.0/proj/Gemm", "Gemm", 1),
                    layer("/block/block.1/block.1.0/Add", "Add", 5)}));
  EXPECT_EQ(difference.same, 2u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].after.name, "/block/block.1/block.1.0/proj/Gemm");
  EXPECT_EQ(difference.changed[0].matched_by, MatchedBy::module);
  EXPECT_THAT(difference.changed[0].what, ElementsAre("op"));
  ASSERT_EQ(difference.removed.size(), 1u);
  EXPECT_EQ(difference.removed[0].name, "block.1.0.attention");
  EXPECT_EQ(difference.added.size(), 3u);
}

// A wrapper adds one module to every name; the blocks are the same.
TEST(AnalysisDiff, AModuleAroundAllLayersIsNoDifference) {
  const AnalysisDiff difference =
      diff(network({product("model.0.k", "MatMul", 3), product("model.0.v", "MatMul", 3),
                    product("head", "MatMul", 7)}),
           network({product("/wrapped/model/model.0/v/MatMul", "MatMul", 3),
                    product("/wrapped/model/model.0/k/MatMul", "MatMul", 3),
                    product("/wrapped/head/Gemm", "Gemm", 7)}));
  EXPECT_EQ(difference.same, 2u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].after.name, "/wrapped/head/Gemm");
  EXPECT_EQ(difference.changed[0].matched_by, MatchedBy::module);
}

// A kernel belongs to the module of its first layer, whatever operator runs there.
TEST(AnalysisDiff, KernelsAreMatchedByTheirFirstLayer) {
  const AnalysisDiff difference =
      diff(network({layer("0.norm", "RMSNormalization", 4), product("0.q + rotary", "MatMul", 3)}),
           network({layer("/0/norm/Pow + Mean + Mul", "Pow", 4),
                    product("/0/q/MatMul + Slice + Add", "MatMul", 3)}));
  EXPECT_EQ(difference.same, 1u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].matched_by, MatchedBy::module);
  EXPECT_THAT(difference.changed[0].what, ElementsAre("op"));
  EXPECT_THAT(difference.removed, IsEmpty());
  EXPECT_THAT(difference.added, IsEmpty());
}

TEST(AnalysisDiff, ProductsAreMatchedBySizeBeforeOrder) {
  const AnalysisDiff difference = diff(
      network({product("a", "MatMul", 3), product("b", "MatMul", 7)}),
      network({product("p", "MatMul", 4), product("q", "Gemm", 3), product("r", "MatMul", 7)}));
  EXPECT_EQ(difference.same, 1u);
  ASSERT_EQ(difference.changed.size(), 1u);
  EXPECT_EQ(difference.changed[0].after.name, "q");
  EXPECT_EQ(difference.changed[0].matched_by, MatchedBy::size);
  ASSERT_EQ(difference.added.size(), 1u);
  EXPECT_EQ(difference.added[0].name, "p");
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
