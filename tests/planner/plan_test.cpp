// Properties that every plan must have, whatever the model, and well-known facts about networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "devices/modes/mode_grid.h"
#include "planner/choice.h"
#include "planner/comparison.h"
#include "planner/infeasible.h"
#include "planner/pareto.h"
#include "roofline/model/predict.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

const Planned& nano() {
  static const Planned planned("jetson-orin-nano-8gb", "resnet50", Runtime::tensorrt, {1, 4});
  return planned;
}

const MaskGrid& axes_of(const char* device) {
  static std::map<std::string, ModeGrid> grids;
  const auto known = grids.find(device);
  if (known != grids.end()) return known->second.masks.front();
  const catalog::Device entry = catalog::load(device);
  return grids.emplace(device, full_grid(entry, catalog::configuration(entry)))
      .first->second.masks.front();
}

PlanOptions without_draws() {
  PlanOptions options;
  options.draws = 0;
  return options;
}

TEST(Plan, NetworksOfManySmallKernelsGetALowGpuClock) {
  const Planned planned("jetson-agx-orin-64gb", "mobilenet_v2", Runtime::torch_eager);
  const auto& gpu = axes_of("jetson-agx-orin-64gb").gpu_hz;
  const Plan plan = planned.plan(least(Goal::energy)).plan;
  EXPECT_EQ(plan.chosen.bound, BoundBy::host);
  EXPECT_LE(*plan.chosen.point.gpu_hz, gpu[gpu.size() / 2]);
}

TEST(Plan, DecodingKeepsTheMemoryClockHighAndLowersTheGpus) {
  const Planned planned("jetson-agx-orin-64gb", "llama-3.2-1b", Runtime::tensorrt, {1},
                        "phase=decode");
  const MaskGrid& axes = axes_of("jetson-agx-orin-64gb");
  const Plan free = planned.plan(least(Goal::energy)).plan;
  EXPECT_GE(*free.chosen.point.memory_hz, axes.memory_hz[axes.memory_hz.size() / 2]);
  EXPECT_LT(*free.chosen.point.gpu_hz, axes.gpu_hz.back());
  const Plan quick = planned.plan(least(Goal::energy, {{LimitKind::slowdown, 0.1, 0, ""}})).plan;
  EXPECT_EQ(*quick.chosen.point.memory_hz, axes.memory_hz.back());
  EXPECT_LT(*quick.chosen.point.gpu_hz, axes.gpu_hz.back());
}

TEST(Plan, WhatRunsOnceASecondIsChosenByIdlePower) {
  const Plan busy = nano().plan(least(Goal::energy)).plan;
  const PlanResult rare = nano().plan(at_rate(1));
  ASSERT_TRUE(rare.plan.chosen.period);
  EXPECT_LT(rare.plan.chosen.period->duty, 0.1);
  double least_idle = INFINITY;
  for (const BatchCost& cost : rare.sweep.costs) least_idle = std::min(least_idle, cost.idle_w);
  EXPECT_LT(*rare.plan.chosen.period->idle_w, 1.02 * least_idle);
  EXPECT_LE(*rare.plan.chosen.point.memory_hz, *busy.chosen.point.memory_hz);
  EXPECT_LE(*rare.plan.chosen.point.gpu_hz, *busy.chosen.point.gpu_hz);
}

TEST(Plan, BatchesSaveEnergy) {
  const Plan plan = nano().plan(least(Goal::energy)).plan;
  EXPECT_EQ(plan.chosen.batch, 4);
  EXPECT_EQ(nano().plan(least(Goal::time, {{LimitKind::latency, 1, 0, ""}})).plan.chosen.batch, 4);
}

TEST(Plan, NumbersAreThoseOfAPrediction) {
  const PlanResult result =
      nano().plan(least(Goal::energy, {{LimitKind::latency, 0.02, 0, "--latency 20ms"}}));
  const PlannedMode& chosen = result.plan.chosen;
  Conditions conditions = nano().problem.conditions;
  conditions.point = chosen.point;
  const NetworkLoad& load = *nano().problem.variants[chosen.batch == 1 ? 0 : 1].load;
  const Prediction prediction = predict(nano().problem.model, load, conditions);
  EXPECT_EQ(chosen.time_s, prediction.time_s);
  EXPECT_EQ(chosen.power_w, prediction.power_w);
  EXPECT_EQ(chosen.energy_j, prediction.energy_j);
  EXPECT_EQ(chosen.energy_j->value, chosen.power_w->value * chosen.time_s.value);
}

TEST(Plan, TiesGoToTheLowerClocks) {
  const PlanResult result = nano().plan(least(Goal::time), without_draws());
  double best = INFINITY;
  for (std::size_t row = 0; row < result.sweep.costs.size(); ++row)
    best = std::min(best, service_at(nano().problem, result.sweep, row, {}).sample_s);
  for (std::size_t row = 0; row < result.sweep.costs.size(); ++row) {
    const CandidateMode& mode = nano().problem.candidates.modes[result.sweep.mode_of(row)];
    if (!mode.allowed || service_at(nano().problem, result.sweep, row, {}).sample_s > best)
      continue;
    EXPECT_FALSE(has_lower_clocks(mode.point, result.plan.chosen.point));
  }
}

TEST(Plan, WithoutAnAnswerItNamesTheNearestMissAndWhatToRelax) {
  try {
    nano().plan(least(Goal::energy, {{LimitKind::latency, 1e-3, 0, "--latency 1ms"}}));
    FAIL() << "1 ms cannot be kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
    EXPECT_EQ(error.where(), "--latency 1ms");
    EXPECT_THAT(error.cause(), HasSubstr("nearest is"));
    EXPECT_THAT(error.fix(), HasSubstr("relax latency to"));
  }
}

TEST(Plan, WhatItSaysToRelaxIsEnough) {
  Objective objective =
      least(Goal::energy, {{LimitKind::latency, 1e-3, 0, ""}, {LimitKind::power, 12, 0, ""}});
  const Sweep swept = sweep(nano().problem);
  const auto draws = coefficient_draws(nano().problem.model, Runtime::tensorrt, 200, 1);
  SweepDraws sweep_draws(nano().problem, swept, draws);
  Chooser chooser(nano().problem, swept, sweep_draws, Reach::reboot);
  ASSERT_TRUE(chooser.best(objective).empty());
  const Infeasibility why = infeasibility(chooser, objective);
  ASSERT_FALSE(why.relaxed.empty());
  for (const Relaxation& relaxed : why.relaxed) {
    Objective easier = objective;
    for (Limit& limit : easier.limits)
      if (limit.kind == relaxed.limit.kind) limit.bound = relaxed.bound;
    EXPECT_FALSE(chooser.best(easier).empty()) << to_string(relaxed.limit.kind);
  }
}

TEST(Plan, SavingsAreAgainstTheSameBatch) {
  const PlanResult result = nano().plan(least(Goal::energy, {{LimitKind::slowdown, 0.2, 0, ""}}));
  ASSERT_TRUE(result.plan.vs_fastest && result.plan.vs_default);
  EXPECT_GE(*result.plan.vs_fastest->energy, 0);
  EXPECT_LE(result.plan.vs_fastest->time, 0);
  EXPECT_GE(result.plan.vs_fastest->time, -0.2);
}

// Without draws the choice can be compared with plain enumeration.
RC_GTEST_PROP(PlanProperties, TheChoiceIsTheBestThatKeepsTheLimits, ()) {
  const auto& goals = TokenTable<Goal>::rows;
  const Goal goal = goals[*rc::gen::inRange<std::size_t>(0, goals.size())].first;
  Objective objective = least(goal);
  if (*rc::gen::arbitrary<bool>())
    objective.limits.push_back({LimitKind::latency, *rc::gen::inRange(2, 60) * 1e-3, 0, ""});
  if (*rc::gen::arbitrary<bool>())
    objective.limits.push_back({LimitKind::power, *rc::gen::inRange(60, 250) * 0.1, 0, ""});
  if (*rc::gen::arbitrary<bool>())
    objective.limits.push_back({LimitKind::slowdown, *rc::gen::inRange(1, 100) * 0.01, 0, ""});
  static const Sweep swept = sweep(nano().problem);
  SweepDraws none(nano().problem, swept, {});
  Chooser chooser(nano().problem, swept, none, Reach::reboot);
  const auto chosen = chooser.best(objective);
  double best = INFINITY;
  for (std::size_t row = 0; row < swept.costs.size(); ++row)
    if (chooser.holds_at_means(row, objective))
      best = std::min(best, score_of(goal, service_at(nano().problem, swept, row, objective)));
  RC_ASSERT(chosen.empty() == std::isinf(best));
  if (!chosen.empty()) {
    RC_ASSERT(chosen.front().score <= best * (1 + 2e-6));
    RC_ASSERT(chooser.holds_at_means(chosen.front().row, objective));
  }
}

// Energies within 1 % count as equal: no mode is faster at practically the same energy.
TEST(PlanProperties, OfEqualEnergiesTheFastestIsChosen) {
  static const Sweep swept = sweep(nano().problem);
  const auto draws = coefficient_draws(nano().problem.model, Runtime::tensorrt, 200, 1);
  SweepDraws sweep_draws(nano().problem, swept, draws);
  Chooser chooser(nano().problem, swept, sweep_draws, Reach::reboot);
  for (const double latency_s : {0.01, 0.02, 1.0})
    for (const double power_w : {10.0, 14.0, 100.0}) {
      const Objective objective = least(Goal::energy, {{LimitKind::latency, latency_s, 0, ""},
                                                       {LimitKind::power, power_w, 0, ""}});
      const auto best = chooser.best(objective), settled = chooser.settled(objective, 4);
      ASSERT_EQ(best.empty(), settled.empty());
      if (best.empty()) continue;
      const Choice& choice = settled.front();
      EXPECT_TRUE(chooser.holds(choice.row, objective));
      EXPECT_LE(choice.score, 1.01 * best.front().score);
      const auto service = [&](std::size_t row) {
        return service_at(nano().problem, swept, row, objective);
      };
      EXPECT_LE(service(choice.row).sample_s, service(best.front().row).sample_s);
      for (std::size_t i = 1; i < settled.size(); ++i)
        EXPECT_FALSE(chooser.is_near(settled[i].row, choice.row));
    }
}

// With draws: the choice keeps its limits, and a wider limit never makes it worse.
TEST(PlanProperties, LiftingALimitNeverMakesTheAnswerWorse) {
  static const Sweep swept = sweep(nano().problem);
  const auto draws = coefficient_draws(nano().problem.model, Runtime::tensorrt, 200, 1);
  SweepDraws sweep_draws(nano().problem, swept, draws);
  Chooser chooser(nano().problem, swept, sweep_draws, Reach::reboot);
  for (const Goal goal : {Goal::energy, Goal::time, Goal::edp}) {
    double last = INFINITY;
    for (double power_w = 9; power_w < 40; power_w *= 1.15) {
      const Objective objective =
          least(goal, {{LimitKind::power, power_w, 0, ""}, {LimitKind::latency, 0.04, 0, ""}});
      const auto chosen = chooser.best(objective);
      if (chosen.empty()) {
        EXPECT_TRUE(std::isinf(last)) << power_w;
        continue;
      }
      EXPECT_GE(chosen.front().probability, 0.9);
      EXPECT_LE(chosen.front().score, last * (1 + 2e-6)) << power_w;
      last = chosen.front().score;
    }
  }
}

// Compares with a search that draws every row.
TEST(PlanProperties, SkippingRowsLosesNothing) {
  CandidateOptions candidates;
  candidates.filter = parse_mode_filter("cores=1,cpu=max");
  Drawn planned(200, "jetson-orin-nano-8gb", "resnet50", Runtime::torch_eager, {1, 4}, candidates);
  int answers = 0;
  for (const double latency_s : {0.025, 0.03, 0.04, 0.06})
    for (const double power_w : {8.0, 10.0, 13.0, 20.0})
      for (const double slowdown : {0.1, 0.5, 5.0}) {
        const Objective objective = least(Goal::energy, {{LimitKind::latency, latency_s, 0, ""},
                                                         {LimitKind::power, power_w, 0, ""},
                                                         {LimitKind::slowdown, slowdown, 0, ""}});
        double best = INFINITY;
        for (std::size_t row = 0; row < planned.swept.costs.size(); ++row)
          if (planned.problem.candidates.modes[planned.swept.mode_of(row)].allowed &&
              planned.chooser.holds(row, objective))
            best =
                std::min(best, service_at(planned.problem, planned.swept, row, objective).energy_j);
        const auto chosen = planned.chooser.best(objective);
        ASSERT_EQ(chosen.empty(), std::isinf(best)) << latency_s << " " << power_w;
        if (chosen.empty()) continue;
        ++answers;
        EXPECT_LE(chosen.front().score, best * (1 + 2e-6)) << latency_s << " " << power_w;
      }
  EXPECT_GT(answers, 5);
}

TEST(ParetoFront, NoRowBeatsAnother) {
  const Sweep swept = sweep(nano().problem);
  const auto front = pareto_front(nano().problem, swept, {});
  ASSERT_GT(front.size(), 5U);
  for (const std::size_t row : front) {
    const Service here = service_at(nano().problem, swept, row, {});
    for (std::size_t other = 0; other < swept.costs.size(); ++other) {
      const Service there = service_at(nano().problem, swept, other, {});
      EXPECT_FALSE(there.latency_s < here.latency_s && there.energy_j < here.energy_j &&
                   there.mean_power_w < here.mean_power_w);
    }
  }
}

TEST(CandidateModes, LiveOnesNeedNoReboot) {
  CandidateOptions candidates;
  candidates.reach = Reach::live;
  const Planned live("jetson-agx-orin-64gb", "resnet18", Runtime::tensorrt, {1}, "", candidates);
  const Plan plan = live.plan(least(Goal::energy), without_draws()).plan;
  EXPECT_EQ(plan.chosen.reach, Reach::live);
  if (plan.with_reboot) {
    EXPECT_EQ(plan.with_reboot->mode.reach, Reach::reboot);
  }
}

TEST(CandidateModes, AreOfTheDevicesKind) {
  EXPECT_EQ(nano().problem.candidates.kind, catalog::Kind::jetson);
  EXPECT_EQ(Planned("a100-40gb-pcie", "resnet18", Runtime::tensorrt).problem.candidates.kind,
            catalog::load("a100-40gb-pcie").kind);
}

// Each stock mode has its run and the limits that it breaks.
TEST(ComparedModes, SayWhichLimitsBreak) {
  const auto broken = [](double limit_s) {
    const Objective objective =
        least(Goal::energy, {{LimitKind::latency, limit_s, 0.5, "--latency"}});
    const auto rows = compare_modes(nano().problem, objective, PlanOptions{});
    EXPECT_EQ(rows.size(), 3u);
    std::size_t count = 0;
    for (const ComparedRow& row : rows) {
      EXPECT_TRUE(row.run) << row.why_not;
      count += !row.broken.empty();
    }
    return count;
  };
  EXPECT_EQ(broken(10), 0u);
  EXPECT_EQ(broken(1e-6), 3u);
}

TEST(CandidateModes, StockModesAreListedOnce) {
  const auto& modes = nano().problem.candidates.modes;
  for (std::size_t i = 0; i < modes.size() && modes[i].stock; ++i)
    for (std::size_t j = i + 1; j < modes.size(); ++j) {
      OperatingPoint a = modes[i].point, b = modes[j].point;
      a.label = b.label = "";
      EXPECT_FALSE(a == b && !modes[j].stock) << modes[i].point.label;
    }
}

}  // namespace
}  // namespace ridgeline::testing
