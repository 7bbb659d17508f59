// Explanations of a made-up prediction: shares, roofs, terms, verdict, and their JSON and CSV.
#include "roofline/explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/explain/explanation_diff.h"
#include "tests/base/error_line.h"
#include "tests/roofline/explained_network.h"
#include "tests/roofline/modelled.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Explanation, SharesAddUp) {
  const Explanation explanation = made_up_explanation();
  double time_s = 0, share = 0, energy_share = 0;
  for (const ExplainedLayer& layer : explanation.layers) {
    time_s += layer.time_s;
    share += layer.time_share;
    energy_share += *layer.energy_share;
  }
  EXPECT_DOUBLE_EQ(time_s + explanation.overheads[0].time_s, explanation.time_s.value);
  EXPECT_DOUBLE_EQ(share, 0.85);
  EXPECT_DOUBLE_EQ(energy_share, 34.0 / 37);
}

// The conv runs at 4 FLOP/ns under a roof of 8, DRAM at 40 µs of 1 ms.
TEST(Explanation, DistanceToEachRoof) {
  const Explanation explanation = made_up_explanation();
  const ExplainedLayer& conv = explanation.layers[0];
  EXPECT_DOUBLE_EQ(*conv.intensity, 1000);
  EXPECT_DOUBLE_EQ(*conv.roof_share, 0.5);
  ASSERT_EQ(conv.roofs.size(), 3u);
  // Products may also run on vector units, which would take four times as long.
  EXPECT_EQ(conv.roofs[0].roof, "FP16 vector");
  EXPECT_DOUBLE_EQ(conv.roofs[0].share, 2);
  EXPECT_EQ(conv.roofs[1], (RoofShare{"FP16 matrix", 0.5}));
  EXPECT_EQ(conv.roofs[2].roof, "DRAM");
  EXPECT_NEAR(conv.roofs[2].share, 0.04, 1e-12);
}

TEST(Explanation, WhatStaysInCachesIsNotHeldAgainstTheMemory) {
  const Explanation explanation = made_up_explanation();
  const ExplainedLayer& norm = explanation.layers[1];
  EXPECT_DOUBLE_EQ(norm.bytes, 40e6);
  EXPECT_NEAR(*norm.roof_share, 0.6, 1e-12);  // 30 MB at 100 GB/s in 0.5 ms
}

TEST(Explanation, LayersWithoutArithmeticOrWork) {
  const Explanation explanation = made_up_explanation();
  const ExplainedLayer& copy = explanation.layers[2];
  EXPECT_EQ(*copy.intensity, 0);
  EXPECT_NEAR(*copy.roof_share, 0.5, 1e-12);
  const ExplainedLayer& view = explanation.layers[3];
  EXPECT_FALSE(view.intensity);
  EXPECT_FALSE(view.roof_share);
  EXPECT_THAT(view.roofs, IsEmpty());
}

TEST(Explanation, TermsOfAllLayersAndOverheads) {
  const Explanation explanation = made_up_explanation();
  ASSERT_EQ(explanation.terms.size(), 3u);
  EXPECT_EQ(explanation.terms[0].name, "compute");
  EXPECT_NEAR(explanation.terms[0].time_s, 0.85e-3, 1e-15);
  EXPECT_NEAR(*explanation.terms[0].energy_j, 8.5e-3, 1e-15);
  EXPECT_EQ(explanation.terms[2].name, "graph launch");
  EXPECT_EQ(explanation.terms[2].time_s, 0.3e-3);
}

TEST(Explanation, Verdict) {
  EXPECT_EQ(verdict(made_up_explanation()),
            "bound by compute: 50 % of the time; memory 25 %, host 10 %, graph launch 15 %");
  Explanation capped = made_up_explanation();
  capped.bound = BoundBy::power_cap;
  EXPECT_EQ(verdict(capped).rfind("bound by power cap; compute 50 %", 0), 0u) << verdict(capped);
}

TEST(Explanation, LongestLayersFirst) {
  const Explanation explanation = made_up_explanation();
  std::vector<std::string> names;
  for (const ExplainedLayer* layer : longest_layers(explanation)) names.push_back(layer->name);
  EXPECT_THAT(names, ElementsAre("conv", "norm <&>", "copy", "view"));
}

TEST(Explanation, RowsAndKernelsMustMatch) {
  const std::vector<Demand> demands(3);
  EXPECT_EQ(error_line([&] { explain(made_up_prediction(), demands, made_up_ceilings(), {}); }),
            "example: 4 rows were predicted for 3 kernels");
}

TEST(Explanation, JsonValidatesWithAndWithoutEnergy) {
  for (const bool energy : {true, false}) {
    const Json json = to_json(made_up_explanation(energy));
    EXPECT_THAT(schema_violations(json, "explanation.schema.json"), IsEmpty()) << energy;
    EXPECT_EQ(json.at("energy_j").is_null(), !energy);
    EXPECT_EQ(json.at("layers").at(0).at("energy_j").is_null(), !energy);
    EXPECT_EQ(json.at("overheads").at(0).at("energy_j").is_null(), !energy);
    EXPECT_EQ(json.at("terms").at("memory").at("energy_j").is_null(), !energy);
    EXPECT_EQ(json.at("advice").at(0).at("change"), "batch 16 instead of 8");
  }
}

TEST(Explanation, CsvHasARowPerLayerAndOverhead) {
  const std::string csv = to_csv(made_up_explanation());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 6);
  EXPECT_EQ(csv.rfind("layer,op,bound,time_s,", 0), 0u);
  EXPECT_NE(csv.find("graph launch,overhead,,3e-04,"), std::string::npos) << csv;
}

FlopCount part(Unit unit, DType dtype) { return {unit, dtype, 8e12}; }

double least(const FlopCount& count) {
  Work work;
  add_flop(work, count.unit, count.dtype, count.flop);
  return ApplicableCeilings(made_up_ceilings()).roof_time_s(work, 0).value_or(-1);
}

TEST(ApplicableCeilings, WhichPeakRunsWhat) {
  EXPECT_EQ(least(part(Unit::matrix, DType::fp16)), 1);  // dense, not the sparse peak
  EXPECT_EQ(least(part(Unit::vector, DType::fp16)), 4);
  EXPECT_EQ(least(part(Unit::matrix, DType::fp32)), 2);  // as TF32
  EXPECT_EQ(least(part(Unit::vector, DType::fp32)), 8);
  EXPECT_EQ(least(part(Unit::matrix, DType::fp8)), 1);   // as fp16
  EXPECT_EQ(least(part(Unit::matrix, DType::bf16)), 2);  // as fp32
  EXPECT_EQ(least(part(Unit::matrix, DType::int4)), 1);
  EXPECT_EQ(least(part(Unit::vector, DType::fp64)), -1);  // no wider type: unknown, not zero
}

TEST(ApplicableCeilings, WithoutAGpuTheCpuCounts) {
  Ceilings ceilings = made_up_ceilings();
  std::erase_if(ceilings.peaks, [](const Peak& peak) { return peak.processor == Processor::gpu; });
  ceilings.bandwidths = {{Processor::cpu, Level::dram, Direction::read, 20e9, Source::measured}};
  Work work;
  add_flop(work, Unit::matrix, DType::fp32, 1e11);
  EXPECT_EQ(ApplicableCeilings(ceilings).roof_time_s(work, 40e9), 2);
  EXPECT_EQ(ApplicableCeilings(ceilings).roof_time_s(work, 0), 1);
}

// Layers of one name are partners; what only one side has stands alone, overheads included.
TEST(Explanation, DifferencesPairEachLayerOnce) {
  Explanation before, after;
  const auto layer = [](const char* name, double time_s) {
    ExplainedLayer made;
    made.name = name;
    made.time_s = made.operations = time_s;
    return made;
  };
  before.layers = {layer("a", 5e-3), layer("b", 1e-3), layer("gone", 2e-3)};
  after.layers = {layer("a", 1e-3), layer("b", 1e-3)};
  before.overheads = {{"idle", 3e-3, 0}};
  after.overheads = {{"idle", 4e-3, 0}};
  const ExplanationDiff found = diff(before, after);
  ASSERT_EQ(found.layers.size(), 4u);
  EXPECT_EQ(found.layers[0].name(), "a");
  EXPECT_NEAR(found.layers[0].time_s(), -4e-3, 1e-12);
  EXPECT_EQ(found.layers[1].name(), "gone");
  EXPECT_FALSE(found.layers[1].after);
  EXPECT_EQ(found.layers[2].name(), "idle");
  EXPECT_NEAR(found.layers[2].time_s(), 1e-3, 1e-12);
  EXPECT_TRUE(found.layers[3].before && found.layers[3].after);
}

TEST(Explanation, UtilizationIsTheShareOfTheNearestRoof) {
  const std::vector<Demand> demands = made_up_demands();
  const MachineModel model = model_of("jetson-agx-orin-64gb");
  const OperatingPoint point = point_of("jetson-agx-orin-64gb", "30W");
  const auto slow = utilization(demands, 1.0, model, point);
  const auto fast = utilization(demands, 1e-7, model, point);
  ASSERT_TRUE(slow && fast);
  EXPECT_NEAR(slow->operations_per_s, 4.001e9, 1e6);
  EXPECT_NEAR(slow->bytes_per_s, 54e6, 1e3);
  EXPECT_NEAR(fast->share / slow->share, 1e7, 1);
  EXPECT_EQ(to_text(*slow).find("more than the machine can do"), std::string::npos);
  EXPECT_NE(to_text(*fast).find("more than the machine can do"), std::string::npos);
  EXPECT_FALSE(utilization(demands, 0, model, point));
  EXPECT_FALSE(utilization({}, 1.0, model, point));
}

}  // namespace
}  // namespace ridgeline::testing
