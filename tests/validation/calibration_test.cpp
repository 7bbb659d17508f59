// Calibration against a machine with known truth: time = work × speed, power = watts.
// Which rows are kept or rejected, where a second calibration starts, and the next mode to measure.
#include "validation/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/json.h"
#include "report/calibration.h"
#include "tests/base/error_line.h"
#include "tests/support/schema_validator.h"
#include "validation/probes.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Stand-ins: parameters of the model with another meaning here.
constexpr const char* seconds_per_sample = "cuda_graph_node_s";
constexpr const char* watts = "board_w";

MachineModel prior_model() {
  return {"jetson-agx-orin-64gb",
          {{seconds_per_sample, 1e-3, Source::assumed},
           {watts, 20, Source::assumed},
           {"memory_bus_bytes", 32, Source::datasheet}},
          {1e-8, 0, 0, 0, 4, 0, 0, 0, 0}};
}

// The mean of the measurements; a row more than ten times off is an outlier.
FitResult averaged(const MachineModel& prior, Observations rows) {
  FitResult result;
  result.model = prior;
  double time = 0, power = 0, used = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double per_sample = rows[i]->time_s / static_cast<double>(rows[i]->batch);
    if (per_sample > 1e-2) {
      result.refused[i] = "outlier";
      continue;
    }
    time += per_sample;
    power += rows[i]->power_w.value_or(20);
    ++used;
  }
  if (used == 0) return result;
  result.model.parameters[0] = {seconds_per_sample, time / used, Source::fitted};
  result.model.parameters[1] = {watts, power / used, Source::fitted};
  result.model.covariance = {1e-10, 0, 0, 0, 1, 0, 0, 0, 0};
  result.notes = {"fitted"};
  return result;
}

Predictor made_up_predictor() {
  Predictor predictor;
  predictor.forecast = [](const MachineModel& model, const Observation& row, Detail) {
    const double time = mean_of(model, seconds_per_sample) * static_cast<double>(row.batch);
    // Uncertainty grows as the clock falls.
    const double open = 2e9 / row.conditions.point.gpu_hz.value_or(1e9);
    Forecast forecast;
    forecast.time_s = {time, time / open, time * open, Source::predicted};
    const double power_w = mean_of(model, watts);
    forecast.power_w = Estimate{power_w, power_w * 0.9, power_w * 1.1, Source::predicted};
    return forecast;
  };
  // The rivals at 1 GHz and 0.8 GHz err alone; slower clocks are slower and less certain.
  predictor.draws = [](const MachineModel& model, const Observation& row) {
    const double gpu_hz = row.conditions.point.gpu_hz.value_or(1e9);
    const double sigma = gpu_hz > 0.7e9 ? 0.1 : 0.3;
    const double time_s = mean_of(model, seconds_per_sample) * (gpu_hz > 0.7e9 ? 1 : 4);
    std::mt19937 random(static_cast<unsigned>(gpu_hz / 1e8));
    std::normal_distribution<double> standard;
    StepDraws draws;
    for (int i = 0; i < 400; ++i)
      draws.time_s.push_back(time_s * std::exp(sigma * standard(random)));
    return draws;
  };
  predictor.least_time_s = [](const MachineModel&, const Observation& row) {
    return 1e-4 * static_cast<double>(row.batch);
  };
  predictor.fit = averaged;
  return predictor;
}

Observation run(std::int64_t batch, double time_s, std::optional<double> power_w = {}) {
  Observation row;
  row.device = "jetson-agx-orin-64gb";
  row.network = "resnet50";
  row.options = "image=128";
  row.batch = batch;
  row.dtype = DType::fp16;
  row.conditions.point.label = "30W";
  row.conditions.point.gpu_hz = 612e6;
  row.conditions.runtime = Runtime::tensorrt;
  row.conditions.power_kind = PowerKind::wall;
  row.time_s = time_s;
  row.power_w = power_w;
  return row;
}

TEST(Calibration, KeepsPriorAndObservations) {
  const Calibration result =
      calibrate(prior_model(), {run(8, 16e-3, 30.0), run(1, 2e-3)}, made_up_predictor());
  EXPECT_EQ(result.used, 2);
  EXPECT_THAT(result.refused, IsEmpty());
  const Parameter& speed = result.model.parameters[0];
  EXPECT_DOUBLE_EQ(speed.mean, 2e-3);
  EXPECT_EQ(speed.source, Source::fitted);
  EXPECT_EQ(speed.prior, (PriorValue{1e-3, 1e-4, Source::assumed}));
  EXPECT_FALSE(result.model.parameters[2].prior);  // a fact stays a fact
  ASSERT_EQ(result.moved.size(), 2u);
  EXPECT_EQ(result.moved[0].name, seconds_per_sample);  // by ten sigmas
  ASSERT_EQ(result.model.observations.size(), 2u);
  const Json json = to_json(result.model);
  EXPECT_EQ(json["observations"][0]["power_kind"], "wall");
  EXPECT_EQ(json["observations"][1]["power_kind"], "");
  EXPECT_THAT(schema_violations(json, "machine_model.schema.json"), IsEmpty());
  EXPECT_EQ(machine_model_from_json(JsonCursor(json, "")), result.model);
}

TEST(Calibration, AKeptObservationIsTheMeasuredOne) {
  const Observation row = run(8, 16e-3, 30.0);
  const Calibration result = calibrate(prior_model(), {row}, made_up_predictor());
  EXPECT_EQ(result.model.observations, std::vector{row});
  const Json json = to_json(row);
  EXPECT_EQ(observation_from_json(JsonCursor(json, ""), row.device), row);
}

// The same run twice, one of them an outlier: the other still counts.
TEST(Calibration, ARefusalIsThatOfOneRow) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(1, 20e-3)}, made_up_predictor());
  EXPECT_EQ(result.used, 1);
  EXPECT_EQ(result.model.observations[0].refused, "");
  EXPECT_EQ(result.model.observations[1].refused, "outlier");
}

// A second calibration gives the same result as one with all rows.
TEST(Calibration, MoreRowsLater) {
  const Predictor predictor = made_up_predictor();
  const Calibration first = calibrate(prior_model(), {run(1, 2e-3)}, predictor);
  const Calibration second = calibrate(first.model, {run(1, 4e-3)}, predictor);
  const Calibration both = calibrate(prior_model(), {run(1, 2e-3), run(1, 4e-3)}, predictor);
  EXPECT_EQ(second.model, both.model);
  EXPECT_EQ(second.used, 2);
  EXPECT_DOUBLE_EQ(second.model.parameters[0].prior->mean, 1e-3);
}

TEST(Calibration, OutliersAreKeptAsRefused) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(2, 40e-3)}, made_up_predictor());
  EXPECT_EQ(result.used, 1);
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_EQ(result.refused[0].refused, "outlier");
  EXPECT_EQ(result.model.observations[1].refused, "outlier");
  // Rejected rows do not come back.
  const Calibration again = calibrate(result.model, {run(1, 2e-3)}, made_up_predictor());
  EXPECT_THAT(again.refused, IsEmpty());
  EXPECT_EQ(again.used, 2);
}

TEST(Calibration, ARowFasterThanTheRoofIsAContradiction) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(1, 5e-5)}, made_up_predictor());
  ASSERT_EQ(result.refused.size(), 1u);
  EXPECT_THAT(result.refused[0].refused, HasSubstr("faster than the roof allows"));
  EXPECT_THAT(error_line([&] { calibrate(prior_model(), {run(1, 5e-5)}, made_up_predictor()); }),
              HasSubstr("no row can be used: contradiction"));
  EXPECT_THAT(error_line([&] { calibrate(prior_model(), {run(1, 1.5)}, made_up_predictor()); }),
              HasSubstr("time_ms looks like microseconds"));
  EXPECT_THAT(error_line([&] { calibrate(prior_model(), {run(1, 40e-3)}, made_up_predictor()); }),
              HasSubstr("every row was rejected: outlier"));
}

TEST(Calibration, AProfileReplacesThePrior) {
  const MachineModel profiled{
      "board",
      {{seconds_per_sample, 3e-3, Source::measured}, {"idle_w", 1, Source::measured}},
      {1e-10, 0, 0, 0}};
  const Calibration result = calibrate(prior_model(), profiled);
  EXPECT_EQ(mean_of(result.model, seconds_per_sample), 3e-3);
  EXPECT_EQ(mean_of(result.model, "idle_w"), 1);
  EXPECT_EQ(mean_of(result.model, watts), 20);
  ASSERT_EQ(result.moved.size(), 1u);
  EXPECT_EQ(result.moved[0].before.mean, 1e-3);
}

TEST(Calibration, TextAndJson) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(2, 40e-3)}, made_up_predictor());
  const std::string text = calibration_text(result, 80);
  EXPECT_THAT(text, HasSubstr("1 measured value used"));
  EXPECT_THAT(text, HasSubstr(seconds_per_sample));
  EXPECT_THAT(text, HasSubstr("rejected: resnet50"));
  EXPECT_THAT(text, HasSubstr("note: fitted"));
  Json json = to_json(result);
  json["suggestion"] = json["stock_suggestion"] = Json();
  EXPECT_THAT(schema_violations(json, "calibration.schema.json"), IsEmpty());
}

OperatingPoint at(double hz) {
  OperatingPoint point;
  point.label = std::to_string(static_cast<int>(hz / 1e6));
  point.gpu_hz = hz;
  return point;
}

TEST(NextProbe, TellsMostAboutTheChoice) {
  // At 1 GHz and 0.8 GHz nearly the same is expected; 0.5 GHz is least certain, and far too slow.
  const std::vector<ProbeCandidate> candidates{
      {at(1e9), true}, {at(0.5e9), false}, {at(0.8e9), true}};
  const auto first =
      suggest_probe(prior_model(), run(1, 1e-3), candidates, {}, made_up_predictor());
  ASSERT_TRUE(first);
  EXPECT_NE(first->any.point.gpu_hz, 0.5e9);
  EXPECT_EQ(first->any.candidates, 3u);
  EXPECT_LT(first->any.regret_after, first->any.regret_now);
  ASSERT_TRUE(first->stock);
  EXPECT_EQ(first->stock->candidates, 2u);
  EXPECT_THAT(first->any.why, HasSubstr("lower the regret of choosing the mode of least time"));
  std::vector<OperatingPoint> measured{at(1e9)};
  const auto next =
      suggest_probe(prior_model(), run(1, 1e-3), candidates, measured, made_up_predictor());
  ASSERT_TRUE(next);
  EXPECT_EQ(next->any.point.gpu_hz, 0.8e9);
  measured = {at(0.5e9), at(0.8e9), at(1e9)};
  EXPECT_FALSE(
      suggest_probe(prior_model(), run(1, 1e-3), candidates, measured, made_up_predictor()));
}

TEST(NextProbe, StockModesAndCorners) {
  const catalog::Device device = catalog::load("jetson-agx-orin-64gb");
  const auto candidates = probe_candidates({device, device.configurations.front()});
  // Four stock modes, of which MAXN is one of the eight corners.
  EXPECT_EQ(candidates.size(), 11u);
  EXPECT_EQ(std::count_if(candidates.begin(), candidates.end(),
                          [](const ProbeCandidate& each) { return each.is_stock; }),
            4);
  for (const ProbeCandidate& each : candidates) EXPECT_FALSE(each.point.label.empty());
}

}  // namespace
}  // namespace ridgeline::testing
