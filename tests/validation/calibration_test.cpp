// Calibration against a machine whose truth is known: time = work × speed, power = watts.
// What is kept, what is refused, what a second calibration starts from; the next mode to measure.
#include "validation/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "tests/base/error_line.h"
#include "tests/support/schema_validator.h"
#include "validation/next_probe.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

MachineModel prior_model() {
  return {"jetson-agx-orin-64gb",
          {{"cuda_graph_s", 1e-3, Source::assumed},
           {"soc_static_w", 20, Source::assumed},
           {"memory_bus_bytes", 32, Source::datasheet}},
          {1e-8, 0, 0, 0, 4, 0, 0, 0, 0}};
}

// The mean of what was measured; a row more than ten times off is an outlier.
FitResult averaged(const MachineModel& prior, Measurements rows) {
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
  result.model.parameters[0] = {"cuda_graph_s", time / used, Source::fitted};
  result.model.parameters[1] = {"soc_static_w", power / used, Source::fitted};
  result.model.covariance = {1e-10, 0, 0, 0, 1, 0, 0, 0, 0};
  result.notes = {"fitted"};
  return result;
}

Predictor made_up_predictor() {
  Predictor predictor;
  predictor.forecast = [](const MachineModel& model, const Observation& row, Detail) {
    const double time = mean_of(model, "cuda_graph_s") * static_cast<double>(row.batch);
    // The slower the clock, the less is known.
    const double open = 2e9 / row.conditions.point.gpu_hz.value_or(1e9);
    Forecast forecast;
    forecast.time_s = {time, time / open, time * open, Source::predicted};
    const double watts = mean_of(model, "soc_static_w");
    forecast.power_w = Estimate{watts, watts * 0.9, watts * 1.1, Source::predicted};
    return forecast;
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
  EXPECT_EQ(speed.prior, (PriorBelief{1e-3, 1e-4, Source::assumed}));
  EXPECT_FALSE(result.model.parameters[2].prior);  // a fact stays one
  ASSERT_EQ(result.moved.size(), 2u);
  EXPECT_EQ(result.moved[0].name, "cuda_graph_s");  // ten sigmas
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

// The same run twice, once by an outlier: the other still counts.
TEST(Calibration, ARefusalIsThatOfOneRow) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(1, 20e-3)}, made_up_predictor());
  EXPECT_EQ(result.used, 1);
  EXPECT_EQ(result.model.observations[0].refused, "");
  EXPECT_EQ(result.model.observations[1].refused, "outlier");
}

// A second calibration gives what one with all rows would have given.
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
  // They do not come back.
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
              HasSubstr("every row was refused: outlier"));
}

TEST(Calibration, AProfileTakesThePlaceOfWhatWasBelieved) {
  const MachineModel profiled{
      "board",
      {{"cuda_graph_s", 3e-3, Source::measured}, {"memory_bytes", 1, Source::measured}},
      {1e-10, 0, 0, 0}};
  const Calibration result = calibrate(prior_model(), profiled);
  EXPECT_EQ(mean_of(result.model, "cuda_graph_s"), 3e-3);
  EXPECT_EQ(mean_of(result.model, "memory_bytes"), 1);
  EXPECT_EQ(mean_of(result.model, "soc_static_w"), 20);
  ASSERT_EQ(result.moved.size(), 1u);
  EXPECT_EQ(result.moved[0].before.mean, 1e-3);
}

TEST(Calibration, TextAndJson) {
  const Calibration result =
      calibrate(prior_model(), {run(1, 2e-3), run(2, 40e-3)}, made_up_predictor());
  const std::string text = calibration_text(result, 80);
  EXPECT_THAT(text, HasSubstr("1 measured value used"));
  EXPECT_THAT(text, HasSubstr("cuda_graph_s"));
  EXPECT_THAT(text, HasSubstr("refused: resnet50"));
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

TEST(NextProbe, WhereLeastIsKnown) {
  const std::vector<OperatingPoint> candidates{at(1e9), at(0.5e9), at(0.8e9)};
  const auto probe = next_probe(prior_model(), run(1, 1e-3), candidates, {}, made_up_predictor());
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->point.gpu_hz, 0.5e9);
  EXPECT_EQ(probe->candidates, 3u);
  EXPECT_EQ(probe->why,
            "time there may be anything from 250 µs to 4.00 ms, the widest interval of 3 modes; "
            "bound by memory");
  const auto next =
      next_probe(prior_model(), run(1, 1e-3), candidates, {at(0.5e9)}, made_up_predictor());
  ASSERT_TRUE(next);
  EXPECT_EQ(next->point.gpu_hz, 0.8e9);
  EXPECT_FALSE(
      next_probe(prior_model(), run(1, 1e-3), candidates, candidates, made_up_predictor()));
}

TEST(NextProbe, StockModesAndCorners) {
  const catalog::Device device = catalog::load("jetson-agx-orin-64gb");
  const auto points = probe_candidates({device, device.configurations.front()});
  // Four stock modes, of which MAXN is one of the eight corners.
  EXPECT_EQ(points.size(), 11u);
  for (const OperatingPoint& point : points) EXPECT_FALSE(point.label.empty());
}

}  // namespace
}  // namespace ridgeline::testing
