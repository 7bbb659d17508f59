// Explanations of a made-up prediction: shares, roofs, terms, verdict, and their JSON and CSV.
#include "roofline/explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/explain/explanation_diff.h"
#include "roofline/explain/measured.h"
#include "roofline/model/machine.h"
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

// For pictures, and to tell which bytes went to memory: 30 MB at the usable 100 GB/s.
TEST(Explanation, KeepsTheCeilingsAndThePrediction) {
  const Explanation explanation = made_up_explanation();
  EXPECT_EQ(explanation.ceilings, made_up_ceilings());
  EXPECT_NEAR(memory_bytes(explanation.layers[1], explanation), 30e6, 1);
  EXPECT_EQ(explanation.device, "example");
  EXPECT_EQ(explanation.runtime, Runtime::tensorrt);
  EXPECT_EQ(explanation.bound, BoundBy::compute);
  EXPECT_EQ(explanation.time_s, made_up_prediction().time_s);
  EXPECT_EQ(explanation.energy_j, made_up_prediction().energy_j);
  EXPECT_EQ(explanation.power_w, made_up_prediction().power_w);
  EXPECT_EQ(explanation.point, made_up_prediction().point);
}

// conv and norm in one module, copy and view in another.
TEST(Explanation, GroupsAreTheSumOfTheirLayers) {
  Explanation explanation = made_up_explanation();
  const auto& layers = explanation.layers;
  const std::vector<std::string> names{"block", "block", "tail", "tail"};
  explanation.groups = grouped_layers(explanation, names);
  ASSERT_EQ(explanation.groups.size(), 2u);
  const ExplainedLayer& block = explanation.groups[0];
  EXPECT_EQ(block.name, "block");
  EXPECT_EQ(block.bound, BoundBy::compute);  // of its longest layer
  EXPECT_EQ(block.op, layers[0].op);
  EXPECT_NEAR(block.time_s, 1.5e-3, 1e-12);
  EXPECT_NEAR(block.time_share, 0.75, 1e-12);
  EXPECT_NEAR(*block.energy_j, 30e-3, 1e-12);
  EXPECT_NEAR(*block.energy_share, 30.0 / 37, 1e-12);
  EXPECT_NEAR(*block.intensity, 4.001e9 / 44e6, 1e-9);
  EXPECT_NEAR(*block.roof_share, (0.5 * 1e-3 + 0.6 * 0.5e-3) / 1.5e-3, 1e-9);
  EXPECT_EQ(block.terms.size(), 2u);
  EXPECT_NEAR(block.terms[0].time_s, 0.75e-3, 1e-12);
  EXPECT_EQ(explanation.groups[1].name, "tail");
  EXPECT_NEAR(explanation.groups[1].time_s, 0.2e-3, 1e-12);
  // A group takes the place of its layers in the list of the longest.
  std::swap(explanation.groups[0], explanation.groups[1]);
  ASSERT_EQ(longest_layers(explanation).size(), 2u);
  EXPECT_EQ(longest_layers(explanation)[0]->name, "block");
}

// Layers that were renamed are partners if they do the same work, and none is paired twice.
TEST(Explanation, DifferencesPairRenamedLayersByTheirWork) {
  Explanation before, after;
  const auto layer = [](const char* name, double operations, double time_s) {
    ExplainedLayer made;
    made.name = name;
    made.operations = operations;
    made.time_s = time_s;
    return made;
  };
  before.layers = {layer("conv", 10, 4e-3), layer("old", 20, 3e-3), layer("other", 30, 2e-3)};
  after.layers = {layer("conv", 10, 4e-3), layer("new", 20, 1e-3), layer("wide", 40, 5e-3)};
  const ExplanationDiff found = diff(before, after);
  ASSERT_EQ(found.layers.size(), 4u);
  EXPECT_NEAR(found.layers[0].time_s(), 5e-3, 1e-12);  // wide has no partner
  EXPECT_FALSE(found.layers[0].before);
  EXPECT_NEAR(found.layers[1].time_s(), -2e-3, 1e-12);
  EXPECT_EQ(found.layers[1].name(), "new");
  EXPECT_EQ(found.layers[1].before ? found.layers[1].before->name : "", "old");
  EXPECT_FALSE(found.layers[2].after);  // other
  EXPECT_EQ(found.layers[3].name(), "conv");
}

// Times that were measured elsewhere, beside what the machine can do at most.
struct MeasuredElsewhere {
  std::vector<Demand> demands = made_up_demands();
  MachineSource machine;
  Explanation explanation;

  explicit MeasuredElsewhere(const char* mode = "30W") {
    machine =
        machine_source({.on = "jetson-agx-orin-64gb", .mode = mode, .jetpack = "", .threads = {}});
    explanation = made_up_explanation();
    explanation.run.machine = "an Orin";
  }

  const MeasuredRun& with(const std::vector<std::optional<double>>& layers_s,
                          const std::string& device = "", bool batch_given = false) {
    MeasuredTimes times;
    times.layers_s = layers_s;
    times.run.device = device;
    add_measured(explanation, demands, times, machine, batch_given);
    return *explanation.measured;
  }
};

TEST(MeasuredLayers, StandBesideTheirRoof) {
  MeasuredElsewhere elsewhere;
  const MeasuredRun& run = elsewhere.with({2e-3, std::nullopt, 1e-3, 0.0});
  EXPECT_TRUE(run.contradictions.empty());
  EXPECT_EQ(run.suspect, "");
  EXPECT_EQ(contradiction_text(elsewhere.explanation), "");
  const auto& layers = elsewhere.explanation.layers;
  EXPECT_EQ(layers[0].measured_s, 2e-3);
  EXPECT_FALSE(layers[1].measured_s || layers[1].measured_roof_share);
  EXPECT_EQ(layers[3].measured_s, 0.0);
  EXPECT_FALSE(layers[3].measured_roof_share);
  // 4e9 operations of fp16 at 8 SMs x 2048 a clock x 612 MHz take 0.4 ms.
  EXPECT_NEAR(*layers[0].measured_roof_share, 4e9 / (8 * 2048 * 612e6) / 2e-3, 0.01);
  // By measured time the first is the longest.
  EXPECT_EQ(longest_layers(elsewhere.explanation)[0]->name, "conv");
}

TEST(MeasuredLayers, ThatAreTooFastAreNamedWithTheirLikelyReason) {
  // 4e9 operations in 0.2 ms are possible at MAXN only: 16 SMs at 1300.5 MHz need 0.094 ms.
  MeasuredElsewhere elsewhere;
  const MeasuredRun& run = elsewhere.with({0.2e-3, std::nullopt, std::nullopt, std::nullopt});
  ASSERT_EQ(run.contradictions.size(), 1u);
  EXPECT_EQ(run.contradictions[0].layer, "conv");
  EXPECT_EQ(run.contradictions[0].measured_s, 0.2e-3);
  EXPECT_EQ(run.contradictions[0].roof, "FP16 matrix");
  EXPECT_NEAR(run.contradictions[0].least_s, 4e9 / (8 * 2048 * 612e6), 1e-6);
  EXPECT_EQ(run.suspect.rfind("the mode: in ", 0), 0u) << run.suspect;
  EXPECT_NE(
      contradiction_text(elsewhere.explanation).find("1 layer was faster than an Orin can be"),
      std::string::npos);
  // Of another device: that is the reason, in whatever case its name is written.
  MeasuredElsewhere other;
  EXPECT_EQ(other.with({0.2e-3, {}, {}, {}}, "NVIDIA A100").suspect,
            "the device: the times are of NVIDIA A100");
  MeasuredElsewhere same;
  std::string name = same.machine.name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(same.with({0.2e-3, {}, {}, {}}, name).suspect.rfind("the mode: in ", 0), 0u);
}

// In no mode of the board: a batch that the user gave may be wrong, else the device.
TEST(MeasuredLayers, ThatNoModeAllowsAreOfAnotherBatchOrDevice) {
  MeasuredElsewhere given("MAXN"), read("MAXN");
  EXPECT_EQ(given.with({1e-6, {}, {}, {}}, "", true).suspect,
            "the batch: the times may be of a smaller one");
  EXPECT_EQ(read.with({1e-6, {}, {}, {}}).suspect, "the device: no mode of it allows such times");
}

// 2 % are the rounding of printed times. The worst contradiction comes first.
TEST(MeasuredLayers, ContradictionsAreByHowFarTheyAreOff) {
  const double least_s = 4e9 / (8 * 2048 * 612e6);
  MeasuredElsewhere nearly;
  EXPECT_TRUE(nearly.with({least_s / 1.01, {}, {}, {}}).contradictions.empty());
  MeasuredElsewhere both;
  both.demands[1] = both.demands[0];
  both.demands[1].name = "twin";
  const MeasuredRun& run = both.with({least_s / 1.5, least_s / 3, {}, {}});
  ASSERT_EQ(run.contradictions.size(), 2u);
  EXPECT_EQ(run.contradictions[0].layer, "twin");
  EXPECT_NE(contradiction_text(both.explanation).find("2 layers were faster"), std::string::npos);
}

// The usable bandwidth is the lower one, 100 GB/s; no run can be faster than the bus, 200 GB/s.
TEST(ApplicableCeilings, TheBusBoundsWhatAnyRunCanDo) {
  const ApplicableCeilings ceilings(made_up_ceilings());
  EXPECT_EQ(*ceilings.usable_bytes_per_s(), 100e9);
  const auto least_time = ceilings.least_time(Work{}, 40e9);
  ASSERT_TRUE(least_time);
  EXPECT_EQ(least_time->name, "DRAM");
  EXPECT_DOUBLE_EQ(least_time->time_s, 0.2);
  EXPECT_DOUBLE_EQ(*ceilings.roof_time_s(Work{}, 40e9), 0.4);
  // Whichever is longer.
  Work work;
  add_flop(work, Unit::matrix, DType::fp16, 4e12);
  EXPECT_DOUBLE_EQ(ceilings.least_time(work, 40e9)->time_s, 0.5);
  EXPECT_EQ(ceilings.least_time(work, 40e9)->name, "FP16 matrix");
}

// A layer that only one side has is null on the other.
TEST(Explanation, JsonOfADifferenceHasBothSides) {
  Explanation before = made_up_explanation(), after = made_up_explanation();
  after.layers.pop_back();
  after.layers[0].time_s = 3e-3;
  const Json json = to_json(diff(before, after));
  const Json& rows = json.at("rows");
  ASSERT_EQ(rows.size(), 5u);  // four layers and an overhead
  EXPECT_EQ(rows[0].at("before").at("name"), "conv");
  EXPECT_EQ(rows[0].at("after").at("time_s"), 3e-3);
  EXPECT_NEAR(rows[0].at("time_s").get<double>(), 2e-3, 1e-12);
  int alone = 0;
  for (const Json& row : rows) {
    EXPECT_FALSE(row.at("before").is_null());
    alone += row.at("after").is_null();
  }
  EXPECT_EQ(alone, 1);
}

}  // namespace
}  // namespace ridgeline::testing
