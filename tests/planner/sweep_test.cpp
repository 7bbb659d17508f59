// The costs of a sweep and of its draws, against the step model and the laws that draws obey.
#include "planner/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "planner/sweep_draws.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

// Stock modes of the Orin Nano.
Planned stock_modes_of_nano(Runtime runtime = Runtime::torch_eager) {
  return Planned("jetson-orin-nano-8gb", "resnet18", runtime, {1, 4}, "", {.stock_only = true});
}

TEST(PlanSweep, CostsAreThoseOfAStep) {
  const Planned planned = stock_modes_of_nano();
  const Sweep swept = sweep(planned.problem);
  const Coefficients values = coefficients(planned.problem.model, Runtime::torch_eager);
  ASSERT_EQ(swept.costs.size(), 2 * planned.problem.candidates.modes.size());
  for (std::size_t row = 0; row < swept.costs.size(); ++row) {
    const BatchCost& cost = swept.costs[row];
    Conditions conditions = planned.problem.conditions;
    conditions.point = mode_at(planned.problem, swept, row).point;
    const StepModel model(*variant_at(planned.problem, swept, row).load, values);
    const Step step = model.at(conditions);
    EXPECT_DOUBLE_EQ(cost.time_s, step.time_s);
    EXPECT_DOUBLE_EQ(cost.power_w, *step.power_w);
    EXPECT_DOUBLE_EQ(cost.host_s, step.host_s);
    EXPECT_GT(cost.host_s, 0);
    EXPECT_EQ(cost.core_hz,
              *std::max_element(conditions.point.cpu_hz.begin(), conditions.point.cpu_hz.end()));
    // The idle mode takes what no work takes; a further core takes its clock times its charge.
    const DevicePoint device = device_point(values, conditions.point);
    const double idle_w = constant_power(values, device, conditions.point, 0, 0);
    EXPECT_DOUBLE_EQ(cost.idle_w, idle_w);
    EXPECT_GT(cost.core_w, 0);
    EXPECT_NEAR(cost.core_w, constant_power(values, device, conditions.point, 0, 1) - idle_w, 1e-9);
    EXPECT_LT(cost.idle_w, cost.power_w);
  }
}

// At the plug everything costs more, idle time too.
TEST(PlanSweep, PowerAtThePlugIsMoreIdleToo) {
  Planned planned("jetson-agx-orin-64gb", "resnet18", Runtime::tensorrt, {1}, "",
                  {.stock_only = true});
  const Sweep module = sweep(planned.problem);
  planned.problem.conditions.power_kind = PowerKind::wall;
  const Sweep wall = sweep(planned.problem);
  const Power power = coefficients(planned.problem.model, Runtime::tensorrt).power;
  for (std::size_t row = 0; row < wall.costs.size(); ++row) {
    if (std::isnan(wall.costs[row].time_s)) continue;
    EXPECT_NEAR(wall.costs[row].power_w, wall_power(power, module.costs[row].power_w), 1e-9);
    EXPECT_NEAR(wall.costs[row].idle_w, wall_power(power, module.costs[row].idle_w), 1e-9);
    EXPECT_GT(wall.costs[row].idle_w, module.costs[row].idle_w);
  }
}

TEST(PlanSweep, TheFastestIsEligibleAndSlowdownsAreAgainstIt) {
  const Planned planned = stock_modes_of_nano();
  const PlanProblem& problem = planned.problem;
  const Sweep swept = sweep(problem);
  for (std::size_t variant = 0; variant < 2; ++variant) {
    double least_s = INFINITY;
    for (std::size_t mode = 0; mode < swept.modes; ++mode)
      if (problem.candidates.is_eligible(mode))
        least_s = std::min(least_s, swept.costs[swept.row(variant, mode)].time_s);
    EXPECT_EQ(swept.fastest_s[variant], least_s);
    EXPECT_EQ(swept.variant_of(swept.fastest[variant]), variant);
    EXPECT_EQ(swept.costs[swept.fastest[variant]].time_s, least_s);
    EXPECT_EQ(slowdown_at(problem, swept, swept.fastest[variant]), 0);
    for (std::size_t mode = 0; mode < swept.modes; ++mode) {
      const std::size_t row = swept.row(variant, mode);
      EXPECT_NEAR(slowdown_at(problem, swept, row), swept.costs[row].time_s / least_s - 1, 1e-12);
      EXPECT_EQ(limited_value_at(problem, swept, row, LimitKind::slowdown, {}),
                slowdown_at(problem, swept, row));
    }
  }
}

// A mode without a GPU clock cannot be predicted: it is left out, with the reason if it is stock.
TEST(PlanSweep, LeavesOutWhatTheModelCannotRun) {
  Planned planned = stock_modes_of_nano();
  CandidateMode unknown = planned.problem.candidates.modes.front();
  unknown.point.gpu_hz.reset();
  unknown.point.label = "7W";
  planned.problem.candidates.modes.push_back(unknown);
  unknown.stock = false;
  planned.problem.candidates.modes.push_back(unknown);
  const Sweep swept = sweep(planned.problem);
  ASSERT_EQ(swept.left_out.size(), 1u);
  EXPECT_THAT(swept.left_out[0], HasSubstr("7W is left out: the operating point has no GPU clock"));
  const std::size_t row = swept.modes - 1;
  EXPECT_TRUE(std::isnan(swept.costs[row].time_s) && std::isnan(swept.costs[row].power_w));
  EXPECT_FALSE(std::isnan(swept.costs[row - 2].time_s));
  // Its draws are unknown too.
  const auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 5, 1);
  SweepDraws sweep_draws(planned.problem, swept, draws);
  for (const BatchCost& cost : sweep_draws.costs(row)) EXPECT_TRUE(std::isnan(cost.time_s));
  planned.problem.candidates.modes = {unknown};
  EXPECT_THROW(sweep(planned.problem), Error);
}

// Around the values at the means: half of the draws are above, half below.
TEST(SweepDraws, LieAroundTheMeans) {
  const Planned planned = stock_modes_of_nano();
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 101, 1);
  SweepDraws sweep_draws(planned.problem, swept, draws);
  EXPECT_EQ(sweep_draws.count(), 101u);
  for (const std::size_t row : {std::size_t{0}, swept.modes}) {
    const auto& costs = sweep_draws.costs(row);
    ASSERT_EQ(costs.size(), 101u);
    for (double BatchCost::*quantity :
         {&BatchCost::time_s, &BatchCost::power_w, &BatchCost::idle_w}) {
      const double mean = swept.costs[row].*quantity;
      const auto below = std::count_if(costs.begin(), costs.end(), [&](const BatchCost& cost) {
        return cost.*quantity < mean * (1 - 1e-12);
      });
      EXPECT_NEAR(static_cast<double>(below), 50, 1) << mean;
    }
  }
}

// Rows that are drawn together, on two threads, are those that are drawn alone.
TEST(SweepDraws, DoNotDependOnWhatIsDrawnWithThem) {
  const Planned planned("jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1, 4});
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::tensorrt, 100, 1);
  SweepDraws together(planned.problem, swept, draws), alone(planned.problem, swept, draws);
  std::vector<std::size_t> rows;
  for (std::size_t row = 3; row < 63; row += 2) rows.push_back(row);
  rows.push_back(swept.modes + 5);
  together.draw(rows);
  for (const std::size_t row : {rows[0], rows[17], rows.back()})
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(together.costs(row)[i].time_s, alone.costs(row)[i].time_s) << row << " " << i;
      EXPECT_EQ(together.costs(row)[i].power_w, alone.costs(row)[i].power_w) << row << " " << i;
    }
}

// One draw is one machine: its error in time and power is the same for prompt, tokens and all.
TEST(SweepDraws, OfAnAnswerScaleItsPartsAlike) {
  Planned planned("jetson-orin-nano-8gb", "llama-3.2-1b", Runtime::tensorrt, {}, "",
                  {.stock_only = true});
  planned.problem.variants = {{std::make_shared<const NetworkLoad>(
                                   load_of("llama-3.2-1b", Runtime::tensorrt, 1, "fp16", "seq=64")),
                               1, DType::fp16}};
  planned.problem.variants[0].token = std::make_shared<const NetworkLoad>(
      load_of("llama-3.2-1b", Runtime::tensorrt, 1, "fp16", "phase=decode"));
  planned.problem.variants[0].tokens = 50;
  const Sweep swept = sweep(planned.problem);
  const BatchCost& mean = swept.costs[0];
  EXPECT_NEAR(mean.time_s, mean.first_token_s + 50 * mean.token_s, 1e-9);
  EXPECT_GT(mean.first_token_s, mean.token_s);
  auto draws = coefficient_draws(planned.problem.model, Runtime::tensorrt, 20, 1);
  // With the same coefficients, only the scales of a draw are left.
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].values = coefficients(planned.problem.model, Runtime::tensorrt);
    draws[i].time_scale = 1 + 0.01 * static_cast<double>(i);
    draws[i].power_scale = 2 - 0.01 * static_cast<double>(i);
  }
  SweepDraws sweep_draws(planned.problem, swept, draws);
  const auto& costs = sweep_draws.costs(0);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double slower = draws[i].time_scale, stronger = draws[i].power_scale;
    EXPECT_NEAR(costs[i].token_s, slower * mean.token_s, 1e-12);
    EXPECT_NEAR(costs[i].first_token_s, slower * mean.first_token_s, 1e-12);
    EXPECT_NEAR(costs[i].token_w, stronger * mean.token_w, 1e-9);
    EXPECT_NEAR(costs[i].core_w, stronger * mean.core_w, 1e-9);
    // Whole requests are centred on the mean: their ratios are left.
    EXPECT_NEAR(costs[i].time_s / costs[0].time_s, slower / draws[0].time_scale, 1e-9);
    EXPECT_NEAR(costs[i].power_w / costs[0].power_w, stronger / draws[0].power_scale, 1e-9);
    EXPECT_NEAR(costs[i].idle_w / costs[0].idle_w, stronger / draws[0].power_scale, 1e-9);
  }
}

// The error that all modes share cancels in a slowdown; what is left is that between modes.
TEST(SweepDraws, ASlowdownIsWithinOneMachine) {
  const Planned planned = stock_modes_of_nano();
  const Sweep swept = sweep(planned.problem);
  auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 9, 1);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i].values = coefficients(planned.problem.model, Runtime::torch_eager);
    draws[i].time_scale = 1 + 0.1 * static_cast<double>(i);
    draws[i].mode_scale = 0.8 + 0.05 * static_cast<double>(i);  // 1 in the middle
  }
  SweepDraws sweep_draws(planned.problem, swept, draws);
  for (std::size_t mode = 0; mode < swept.modes; ++mode) {
    const auto drawn = sweep_draws.limited_values(mode, LimitKind::slowdown, {});
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const double expected =
          mode == swept.fastest[0]
              ? 0
              : draws[i].mode_scale * (1 + slowdown_at(planned.problem, swept, mode)) - 1;
      EXPECT_NEAR(drawn[i], expected, 1e-9) << mode << " " << i;
    }
  }
  // Without draws it is the value at the means.
  SweepDraws none(planned.problem, swept, {});
  EXPECT_THAT(none.limited_values(0, LimitKind::slowdown, {}),
              ::testing::ElementsAre(slowdown_at(planned.problem, swept, 0)));
}

// Work piles up in some of the draws; the interval is that of the others.
TEST(SweepDraws, AnIntervalLeavesOutWhatNeverEnds) {
  const Planned planned = stock_modes_of_nano();
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 50, 1);
  SweepDraws sweep_draws(planned.problem, swept, draws);
  const Objective objective = at_rate(0.98 / swept.costs[0].time_s);
  const auto services = sweep_draws.services(0, objective);
  const auto piled_up = std::count_if(services.begin(), services.end(), [](const Service& service) {
    return std::isinf(service.latency_s);
  });
  ASSERT_GT(piled_up, 0);
  ASSERT_LT(piled_up, 50);
  const Estimate latency_s =
      sweep_draws.estimate(0, objective, [](const Service& s) { return s.latency_s; });
  EXPECT_TRUE(std::isfinite(latency_s.high));
  EXPECT_EQ(latency_s.value, service_at(planned.problem, swept, 0, objective).latency_s);
  const auto kept = sweep_draws.limits_hold(0, objective);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), false), piled_up);
}

// A draw keeps the limits if it keeps each of them.
TEST(SweepDraws, LimitsHoldTogetherInADraw) {
  const Planned planned = stock_modes_of_nano();
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 50, 1);
  SweepDraws sweep_draws(planned.problem, swept, draws);
  const Objective both = least(Goal::energy, {{LimitKind::latency, swept.costs[0].time_s, 0, ""},
                                              {LimitKind::power, swept.costs[0].power_w, 0, ""}});
  const std::vector<bool> kept = sweep_draws.limits_hold(0, both);
  const auto services = sweep_draws.services(0, both);
  double held = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    const bool holds = services[i].latency_s <= both.limits[0].bound &&
                       services[i].mean_power_w <= both.limits[1].bound;
    EXPECT_EQ(kept[i], holds) << i;
    held += holds;
  }
  EXPECT_GT(held, 0);
  EXPECT_LT(held, 40);
  EXPECT_DOUBLE_EQ(sweep_draws.probability(0, both), held / 50);
  EXPECT_EQ(sweep_draws.probability(0, least(Goal::energy)), 1);
}

// Nine of ten media of a kind take between 1/spread and spread times as long.
TEST(SweepDraws, StorageDiffersBetweenBoards) {
  Planned planned = stock_modes_of_nano();
  planned.problem.scenario = Scenario::training;
  planned.problem.training.dataset = {1000, 100e3};
  planned.problem.training.sources.storage = storage_medium("emmc");
  planned.problem.training.pipeline.medium = storage_medium("emmc").cost;
  ASSERT_EQ(planned.problem.training.sources.storage.spread, 2);
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::torch_eager, 200, 1);
  const auto scales = [&] {
    SweepDraws sweep_draws(planned.problem, swept, draws);
    std::vector<double> result;
    for (const BatchCost& cost : sweep_draws.costs(0)) result.push_back(cost.fetch_scale);
    std::sort(result.begin(), result.end());
    return result;
  };
  const std::vector<double> drawn = scales();
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), 200u);
  EXPECT_NEAR(drawn[10], 0.5, 0.02);
  EXPECT_NEAR(drawn[100], 1, 0.01);
  EXPECT_NEAR(drawn[189], 2, 0.08);
  planned.problem.scenario = Scenario::inference;
  EXPECT_EQ(scales().back(), 1);
}

}  // namespace
}  // namespace ridgeline::testing
