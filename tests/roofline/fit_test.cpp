// Fits to synthetic truth: changed parameters are recovered, impossible measurements are rejected,
// and parameters that no measurement depends on keep their prior.
#include "roofline/model/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "roofline/model/coefficients.h"
#include "roofline/model/draws.h"
#include "roofline/model/predict.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

constexpr std::string_view orin = "jetson-agx-orin-64gb";

void set(MachineModel& model, std::string_view name, double factor) {
  model.parameters[find_parameter(model, name).value()].mean *= factor;
}

Observation observed(const MachineModel& truth, const NetworkLoad& load, std::string_view mode) {
  Observation observation;
  observation.network = "made up";
  observation.conditions.point = point_of(orin, mode);
  observation.conditions.runtime = load.runtime;
  const Step step =
      StepModel(load, coefficients(truth, load.runtime)).at(observation.conditions, false);
  observation.time_s = step.time_s;
  observation.power_w = step.power_w;
  return observation;
}

FitResult fit_to(const std::vector<Observation>& probes, const MachineModel& prior,
                 const NetworkLoad& load) {
  return fit(prior, probes, std::vector<const NetworkLoad*>(probes.size(), &load));
}

TEST(Fit, TwoProbesTeachTheTimeOfOtherModes) {
  const MachineModel prior = model_of(orin);
  MachineModel truth = prior;
  set(truth, "gpu_convolution_fp16_efficiency", 0.75);
  set(truth, "gpu_busy_joule_per_sm_clock", 1.3);
  const NetworkLoad load = load_of("resnet50", Runtime::torch_eager, 16);
  const std::vector<Observation> probes = {observed(truth, load, "15W"),
                                           observed(truth, load, "MAXN")};
  const FitResult fitted = fit_to(probes, prior, load);
  EXPECT_TRUE(fitted.refused.empty());
  for (const char* mode : {"30W", "50W"}) {
    const Observation unseen = observed(truth, load, mode);
    PredictOptions options;
    options.rows = RowDetail::none;
    const Prediction before = predict(prior, load, unseen.conditions, options);
    const Prediction after = predict(fitted.model, load, unseen.conditions, options);
    EXPECT_GT(std::abs(before.time_s.value / unseen.time_s - 1), 0.08) << mode;
    EXPECT_LT(std::abs(after.time_s.value / unseen.time_s - 1), 0.04) << mode;
    EXPECT_LT(std::abs(after.power_w->value / *unseen.power_w - 1), 0.05) << mode;
    EXPECT_LT(after.time_s.high - after.time_s.low, before.time_s.high - before.time_s.low);
  }
}

TEST(Fit, WhatNoMeasurementTouchesStays) {
  const MachineModel prior = model_of(orin);
  const NetworkLoad load = load_of("resnet18", Runtime::torch_eager, 4);
  Observation probe = observed(prior, load, "30W");
  probe.time_s *= 1.15;
  const MachineModel after = fit_to({probe}, prior, load).model;
  const std::size_t n = prior.parameters.size();
  for (const char* name : {"gpu_attention_fp16_efficiency", "tensorrt_matmul_int8_efficiency"}) {
    const auto index = find_parameter(prior, name);
    if (!index) continue;
    EXPECT_DOUBLE_EQ(after.parameters[*index].mean, prior.parameters[*index].mean) << name;
    EXPECT_NEAR(after.covariance[*index * n + *index] / prior.covariance[*index * n + *index], 1,
                1e-6)
        << name;
  }
}

TEST(Fit, AnImpossibleRowIsRefusedWithAReason) {
  const MachineModel prior = model_of(orin);
  const NetworkLoad load = load_of("resnet50", Runtime::tensorrt, 8);
  Observation wrong_unit = observed(prior, load, "30W");
  wrong_unit.time_s *= 1000;
  const FitResult fitted = fit_to({wrong_unit}, prior, load);
  ASSERT_EQ(fitted.refused.size(), 1u);
  EXPECT_NE(fitted.refused.at(0).find("times what the model expects"), std::string::npos);
  EXPECT_EQ(fitted.model.parameters, prior.parameters);
}

TEST(Fit, ATimeThatDoesNotFollowTheClockIsTheHosts) {
  const MachineModel prior = model_of(orin);
  const NetworkLoad load = load_of("mobilenet_v3_small", Runtime::torch_eager);
  const std::vector<Observation> probes = {observed(prior, load, "gpu=612MHz,cpu=1497.6MHz"),
                                           observed(prior, load, "gpu=1300.5MHz,cpu=1497.6MHz")};
  const FitResult fitted = fit_to(probes, prior, load);
  ASSERT_EQ(fitted.notes.size(), 1u);
  EXPECT_NE(fitted.notes[0].find("bound by the host"), std::string::npos);
}

TEST(Draws, RepeatAndKeepTheSignOfWhatTheyDraw) {
  const MachineModel model = model_of(orin);
  const ParameterDraws draws(model);
  Random random{7}, again{7};
  for (int i = 0; i < 50; ++i) {
    const std::vector<double> values = draws.draw(random);
    EXPECT_EQ(values, draws.draw(again));
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (is_log_normal(model.parameters[p])) {
        EXPECT_GT(values[p], 0) << model.parameters[p].name;
      }
    }
  }
}

}  // namespace
}  // namespace ridgeline::testing
