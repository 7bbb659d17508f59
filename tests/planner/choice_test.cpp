// The choice among modes written by hand; plan_test.cpp compares it with enumeration on real ones.
#include "planner/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/choosable.h"
#include "planner/pareto.h"
#include "tests/planner/handmade.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Choice, OnlyModesInReachAreChosen) {
  std::vector<HandMode> modes = {{1.0e9, 10e-3, 10, 2},  // 100 mJ
                                 {0.6e9, 12e-3, 5, 2},   // 60 mJ after a reboot
                                 {0.3e9, 20e-3, 2, 1}};  // 40 mJ, but not allowed
  modes[1].reach = Reach::reboot;
  modes[2].allowed = false;
  Handmade any(modes), live(modes, {1}, Reach::live);
  EXPECT_EQ(any.chooser.best(least(Goal::energy)).front().row, 1u);
  EXPECT_EQ(live.chooser.best(least(Goal::energy)).front().row, 0u);
}

TEST(Choice, OfStockModesAlone) {
  std::vector<HandMode> modes = {{1.0e9, 10e-3, 10, 2}, {0.6e9, 12e-3, 5, 2}};
  modes[0].label = "15W";
  Handmade all(modes), stock(modes, {1}, Reach::reboot, true);
  EXPECT_EQ(all.chooser.best(least(Goal::energy)).front().row, 1u);
  EXPECT_EQ(stock.chooser.best(least(Goal::energy)).front().row, 0u);
  modes[0].label.clear();
  Handmade none(modes, {1}, Reach::reboot, true);
  EXPECT_THAT(none.chooser.best(least(Goal::energy)), IsEmpty());
}

// Scores within a millionth are equal.
TEST(Choice, TiesGoToTheLowerClocksWhereverTheyAreListed) {
  for (const double nearly : {1 - 1e-8, 1.0, 1 + 1e-8}) {
    Handmade first({{0.5e9, 10e-3, 10, 2}, {1.0e9, nearly * 10e-3, 10, 2}});
    Handmade last({{1.0e9, nearly * 10e-3, 10, 2}, {0.5e9, 10e-3, 10, 2}});
    EXPECT_EQ(first.chooser.best(least(Goal::time)).front().row, 0u) << nearly;
    EXPECT_EQ(last.chooser.best(least(Goal::time)).front().row, 1u) << nearly;
  }
  // Five in a million is a difference.
  Handmade differ({{0.5e9, 10e-3, 10, 2}, {1.0e9, 10e-3 * (1 - 5e-6), 10, 2}});
  EXPECT_EQ(differ.chooser.best(least(Goal::time)).front().row, 1u);
}

// Clocks decide in the order GPU, memory, CPU, cores.
TEST(Choice, OfEqualModesEachKnobIsLow) {
  std::vector<HandMode> modes(5, {1.0e9, 10e-3, 10, 2});
  modes[1].cores = 3;
  modes[2].cpu_hz = 0.8e9;
  modes[3].memory_hz = 1e9;
  modes[4].gpu_hz = 0.9e9;
  while (modes.size() > 1) {
    Handmade made(modes);
    EXPECT_EQ(made.chooser.best(least(Goal::energy)).front().row, modes.size() - 1);
    modes.pop_back();
  }
}

// With equal clocks too, the variant that is listed first: batch 1 before batch 2.
TEST(Choice, OfEqualVariantsTheFirst) {
  Handmade made({{1.0e9, 10e-3, 10, 2}}, {1, 2});
  EXPECT_EQ(made.chooser.best(least(Goal::energy)).front().row, 0u);
}

// Energy per sample, time per sample, mean power, and energy x delay have four different winners.
TEST(Choice, EachGoalHasItsWinner) {
  Handmade made({{1.0e9, 10e-3, 20, 2},    // 200 mJ, EDP 2.0 mJ s
                 {0.8e9, 12e-3, 14, 2},    // 168 mJ, EDP 2.016 mJ s
                 {0.7e9, 11.4e-3, 15, 2},  // 171 mJ, EDP 1.949 mJ s
                 {0.2e9, 60e-3, 4, 2}});   // 240 mJ, least power
  EXPECT_EQ(made.chooser.best(least(Goal::time)).front().row, 0u);
  EXPECT_EQ(made.chooser.best(least(Goal::energy)).front().row, 1u);
  EXPECT_EQ(made.chooser.best(least(Goal::edp)).front().row, 2u);
  EXPECT_EQ(made.chooser.best(least(Goal::power)).front().row, 3u);
  EXPECT_NEAR(made.chooser.best(least(Goal::edp)).front().score, 1.949e-3, 1e-6);
}

// A limit is kept by a value equal to it; each kind bounds its own quantity.
TEST(Choice, EachLimitBoundsItsQuantity) {
  // 100 mJ in 10 ms, and 60 mJ in 12 ms.
  Handmade made({{1.0e9, 10e-3, 10, 2}, {0.6e9, 12e-3, 5, 2}});
  const auto chosen = [&](LimitKind kind, double bound, Goal goal) {
    const auto best = made.chooser.best(least(goal, {{kind, bound, 0, ""}}));
    return best.empty() ? -1 : static_cast<int>(best.front().row);
  };
  for (const LimitKind kind : {LimitKind::latency, LimitKind::throughput, LimitKind::arrivals}) {
    EXPECT_EQ(chosen(kind, 12e-3, Goal::energy), 1) << to_string(kind);
    EXPECT_EQ(chosen(kind, 11.9e-3, Goal::energy), 0) << to_string(kind);
    EXPECT_EQ(chosen(kind, 9.9e-3, Goal::energy), -1) << to_string(kind);
  }
  EXPECT_EQ(chosen(LimitKind::slowdown, 0.201, Goal::energy), 1);
  EXPECT_EQ(chosen(LimitKind::slowdown, 0.19, Goal::energy), 0);
  for (const LimitKind kind : {LimitKind::power, LimitKind::peak_power, LimitKind::battery}) {
    EXPECT_EQ(chosen(kind, 10.001, Goal::time), 0) << to_string(kind);
    EXPECT_EQ(chosen(kind, 9.9, Goal::time), 1) << to_string(kind);
    EXPECT_EQ(chosen(kind, 4.9, Goal::time), -1) << to_string(kind);
  }
  EXPECT_EQ(chosen(LimitKind::energy, 0.1001, Goal::time), 0);
  EXPECT_EQ(chosen(LimitKind::energy, 0.0999, Goal::time), 1);
  EXPECT_EQ(chosen(LimitKind::energy, 0.059, Goal::time), -1);
}

// With all limits, not with one of them.
TEST(Choice, AllLimitsHoldTogether) {
  Handmade made({{1.0e9, 10e-3, 10, 2}, {0.6e9, 12e-3, 5, 2}});
  EXPECT_THAT(made.chooser.best(least(Goal::energy, {{LimitKind::latency, 11e-3, 0, ""},
                                                     {LimitKind::power, 6, 0, ""}})),
              IsEmpty());
  EXPECT_TRUE(made.chooser.holds(0, least(Goal::energy, {{LimitKind::latency, 11e-3, 0, ""}})));
  EXPECT_FALSE(made.chooser.holds(1, least(Goal::energy, {{LimitKind::latency, 11e-3, 0, ""}})));
}

// 1 % more energy counts as equal, and then the time decides: 0.9 % more for 20 % less time is
// taken, 1.1 % more is not. A mode that is faster by less than 0.5 % is not faster.
TEST(Choice, SettlesOnTheFastestOfNearlyEqualEnergies) {
  const auto settled = [](double energy, double time_s) {
    Handmade made({{0.6e9, 10e-3, 10, 2}, {1.0e9, time_s, energy / time_s, 2}});
    return made.chooser.settled(least(Goal::energy)).front().row;
  };
  EXPECT_EQ(settled(0.1009, 8e-3), 1u);
  EXPECT_EQ(settled(0.1011, 8e-3), 0u);
  EXPECT_EQ(settled(0.1009, 9.96e-3), 0u);
  EXPECT_EQ(settled(0.1009, 9.94e-3), 1u);
  // For other goals the best is the best.
  Handmade made({{0.6e9, 10e-3, 10, 2}, {1.0e9, 8e-3, 0.1009 / 8e-3, 2}});
  EXPECT_EQ(made.chooser.settled(least(Goal::power)).front().row, 0u);
}

TEST(Choice, OfModesThatAreAsFastItSettlesOnTheOneOfLeastEnergy) {
  Handmade made({{0.5e9, 10e-3, 10, 2},            // 100 mJ
                 {1.2e9, 8e-3, 0.1009 / 8e-3, 2},  // the fastest
                 {1.0e9, 8.02e-3, 0.1004 / 8.02e-3, 2},
                 {0.8e9, 8.2e-3, 0.1001 / 8.2e-3, 2}});  // 2.5 % slower: not as fast
  EXPECT_EQ(made.chooser.settled(least(Goal::energy)).front().row, 2u);
  // Unless the limits forbid it.
  Objective objective = least(Goal::energy, {{LimitKind::power, 12.4, 0, ""}});
  EXPECT_EQ(made.chooser.settled(objective).front().row, 3u);
}

TEST(Choice, SettlesWithinABatchSize) {
  Handmade made({{0.6e9, 10e-3, 10, 2}}, {1, 2});
  made.swept.costs[1].time_s = 15e-3;  // a batch of 2 is faster per sample, 0.9 % more energy
  made.swept.costs[1].power_w = 2 * 0.1009 / 15e-3;
  EXPECT_EQ(made.chooser.settled(least(Goal::energy)).front().row, 0u);
}

// Runners-up differ from the choice and from each other: one clock by more than 15 %, or time or
// power by more than 3 %.
TEST(Choice, RunnersUpAreOtherChoices) {
  Handmade made({{1.00e9, 10.0e-3, 10, 2},
                 {1.10e9, 10.5e-3, 10.1, 2},  // near by its clock
                 {2.00e9, 10.2e-3, 10.2, 2},  // near by time and power
                 {0.50e9, 11.0e-3, 10.3, 2},  // another
                 {0.52e9, 11.5e-3, 10.4, 2},  // near the one before
                 {0.20e9, 12.5e-3, 10.5, 2}});
  EXPECT_THAT(Handmade::rows(made.chooser.best(least(Goal::energy), 4)), ElementsAre(0, 3, 5));
  EXPECT_THAT(Handmade::rows(made.chooser.best(least(Goal::energy), 2)), ElementsAre(0, 3));
  EXPECT_TRUE(made.chooser.is_near(0, 1));
  EXPECT_TRUE(made.chooser.is_near(0, 2));
  EXPECT_FALSE(made.chooser.is_near(0, 3));
}

TEST(Choice, ModesOfOtherIdlePowerOrBatchAreNotNear) {
  Handmade made({{1.0e9, 10e-3, 10, 2}, {2.0e9, 10e-3, 10, 3}, {3.0e9, 10e-3, 10, 2.02}}, {1, 2});
  EXPECT_FALSE(made.chooser.is_near(0, 1));
  EXPECT_TRUE(made.chooser.is_near(0, 2));
  EXPECT_FALSE(made.chooser.is_near(0, 3));  // the same mode with a batch of 2
}

// A settled choice moves to the front; the runners-up stay, but not those near it.
TEST(Choice, RunnersUpOfASettledChoice) {
  Handmade made({{0.5e9, 10e-3, 10, 2},                // least energy
                 {1.0e9, 8e-3, 0.1009 / 8e-3, 2},      // nearly the same, faster
                 {1.05e9, 8.2e-3, 0.103 / 8.2e-3, 2},  // near that
                 {0.2e9, 30e-3, 4, 2}});
  EXPECT_THAT(Handmade::rows(made.chooser.settled(least(Goal::energy), 4)), ElementsAre(1, 0, 3));
  EXPECT_THAT(Handmade::rows(made.chooser.settled(least(Goal::energy), 1)), ElementsAre(1));
}

// The mode with the least value of a quantity among those that keep the other limits.
TEST(Choice, LeastOfOneQuantity) {
  Handmade made({{1.0e9, 10e-3, 10, 2}, {0.6e9, 12e-3, 5, 2}, {0.3e9, 30e-3, 3, 1}});
  EXPECT_EQ(made.chooser.least(LimitKind::latency, least(Goal::energy))->row, 0u);
  EXPECT_EQ(made.chooser.least(LimitKind::power, least(Goal::time))->row, 2u);
  EXPECT_EQ(made.chooser.least(LimitKind::slowdown, least(Goal::energy))->row, 0u);
  EXPECT_EQ(
      made.chooser.least(LimitKind::power, least(Goal::time, {{LimitKind::latency, 20e-3, 0, ""}}))
          ->row,
      1u);
  EXPECT_FALSE(
      made.chooser.least(LimitKind::power, least(Goal::time, {{LimitKind::latency, 1e-3, 0, ""}})));
}

TEST(Choice, ModesThatCannotRunAreNotChosen) {
  Handmade made({{1.0e9, NAN, NAN, NAN}, {0.6e9, 12e-3, 5, 2}});
  for (const Goal goal : {Goal::energy, Goal::time, Goal::power, Goal::edp})
    EXPECT_THAT(Handmade::rows(made.chooser.best(least(goal), 3)), ElementsAre(1));
}

TEST(Choice, IsNamedByModeAndVariant) {
  std::vector<HandMode> modes = {{1.0e9, 10e-3, 10, 2}, {0.6e9, 12e-3, 5, 2}};
  modes[0].label = "15W";
  Handmade made(modes, {1, 4});
  EXPECT_EQ(made.chooser.name_of(0), "15W, batch 1, fp32");
  EXPECT_EQ(made.chooser.name_of(3), "gpu=600MHz,emc=2000MHz,cpu=1000MHz,cores=4, batch 4, fp32");
}

// A limit may ask for more certainty than the plan as a whole.
TEST(Choice, ALimitMayAskForMoreCertaintyThanThePlan) {
  Drawn planned(100, "jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1},
                {.stock_only = true});
  // A bound that 95 of 100 draws keep.
  std::vector<double> times;
  for (const BatchCost& cost : planned.sweep_draws.costs(0)) times.push_back(cost.time_s);
  std::sort(times.begin(), times.end());
  ASSERT_LT(times[94], times[95]);
  const double bound_s = (times[94] + times[95]) / 2;
  Objective objective = least(Goal::energy, {{LimitKind::latency, bound_s, 0, ""}});
  objective.risk = 0.9;
  EXPECT_TRUE(planned.chooser.holds(0, objective));
  EXPECT_DOUBLE_EQ(planned.sweep_draws.probability(0, objective.limits[0], objective), 0.95);
  EXPECT_DOUBLE_EQ(planned.sweep_draws.probability(0, objective), 0.95);
  objective.limits[0].probability = 0.94;
  EXPECT_TRUE(planned.chooser.holds(0, objective));
  objective.limits[0].probability = 0.96;
  EXPECT_FALSE(planned.chooser.holds(0, objective));
  EXPECT_EQ(required_probability(objective.limits[0], objective), 0.96);
  objective.risk = 0.99;
  EXPECT_EQ(required_probability(objective.limits[0], objective), 0.99);
  objective.limits[0].probability = 0;
  EXPECT_FALSE(planned.chooser.holds(0, objective));
}

// Rows by delay that nothing beats in delay, energy and power at once.
TEST(ParetoFront, OfModesWrittenByHand) {
  std::vector<HandMode> modes = {{1.0e9, 10e-3, 20, 2},  // the fastest: 200 mJ
                                 {0.8e9, 12e-3, 14, 2},  // 168 mJ
                                 {0.9e9, 12e-3, 15, 2},  // beaten by the one before
                                 {0.6e9, 15e-3, 12, 2},  // 180 mJ, but less power
                                 {0.5e9, 16e-3, 13, 2},  // beaten: slower, 208 mJ, 13 W
                                 {0.3e9, 40e-3, 4, 2},   // 160 mJ
                                 {0.4e9, 12e-3, 14, 2},  // as good as the second, lower clock
                                 {0.1e9, 9e-3, 1, 1},    // not allowed
                                 {0.2e9, NAN, NAN, NAN}};
  modes[7].allowed = false;
  Handmade made(modes);
  EXPECT_THAT(pareto_front(made.problem, made.swept, {}), ElementsAre(0, 6, 3, 5));
  EXPECT_THAT(energy_front(made.problem, made.swept, {}), ElementsAre(0, 6, 5));
  // Without power the fastest alone is left, of equally fast ones that with the lower clocks.
  for (HandMode& mode : modes) mode.power_w = mode.idle_w = NAN;
  modes[1].time_s = 10e-3;
  Handmade timed(modes);
  EXPECT_THAT(pareto_front(timed.problem, timed.swept, {}), ElementsAre(1));
}

// Of each batch size by itself; together, batch 2 is beaten by batch 1.
TEST(ParetoFront, OfEachVariant) {
  Handmade made({{1.0e9, 10e-3, 20, 2}, {0.8e9, 12e-3, 14, 2}}, {1, 2});
  EXPECT_THAT(variant_front(made.problem, made.swept, {}, 0), ElementsAre(0, 1));
  EXPECT_THAT(variant_front(made.problem, made.swept, {}, 1), ElementsAre(2, 3));
  EXPECT_THAT(pareto_front(made.problem, made.swept, {}), ElementsAre(0, 1));
}

// Energy and power that are equal do not put a slower row on the front.
TEST(ParetoFront, ASlowerRowMustSaveSomething) {
  Handmade made({{1.0e9, 10e-3, 10, 2}, {0.5e9, 12e-3, 10, 2}, {0.4e9, 20e-3, 5, 2}});
  EXPECT_THAT(pareto_front(made.problem, made.swept, {}), ElementsAre(0, 2));
  EXPECT_THAT(energy_front(made.problem, made.swept, {}), ElementsAre(0));
}

// The rows of the front and the eligible stock modes; low clocks first.
TEST(ChoosableRows, AreTheFrontAndTheStockModes) {
  std::vector<HandMode> modes = {{1.0e9, 10e-3, 20, 2},    // front
                                 {0.9e9, 12e-3, 19, 2},    // beaten, but stock
                                 {0.8e9, 12e-3, 18, 2},    // front
                                 {0.7e9, 13e-3, 18, 2},    // beaten
                                 {0.6e9, 14e-3, 30, 2},    // stock, but needs a reboot
                                 {0.5e9, NAN, NAN, NAN}};  // stock, but cannot run
  modes[1].label = "15W";
  modes[4].label = "7W";
  modes[4].reach = Reach::reboot;
  modes[5].label = "5W";
  Handmade made(modes, {1}, Reach::live);
  const auto rows = choosable_rows(made.problem, made.swept, made.draws, least(Goal::energy));
  std::vector<std::size_t> listed;
  for (const ChoosableRow& row : rows) {
    listed.push_back(row.row);
    ASSERT_EQ(row.kept.size(), 1u);
    EXPECT_EQ(row.kept[0].latency_s, modes[row.row].time_s);
    EXPECT_NEAR(row.kept[0].power_w, modes[row.row].power_w, 1e-12);
  }
  EXPECT_THAT(listed, ElementsAre(2, 1, 0));
}

// Limits of latency and mean power are the reader's to move; all others hold.
TEST(ChoosableRows, KeepTheOtherLimits) {
  Handmade made({{1.0e9, 10e-3, 20, 2}, {0.5e9, 20e-3, 5, 2}});
  const auto kept = [&](LimitKind kind, double bound) {
    std::vector<bool> result;
    for (const ChoosableRow& row : choosable_rows(made.problem, made.swept, made.draws,
                                                  least(Goal::energy, {{kind, bound, 0, ""}})))
      result.push_back(!row.kept.empty());
    return result;
  };
  EXPECT_THAT(kept(LimitKind::latency, 1e-6), ElementsAre(true, true));
  EXPECT_THAT(kept(LimitKind::power, 1e-6), ElementsAre(true, true));
  EXPECT_THAT(kept(LimitKind::peak_power, 10), ElementsAre(true, false));
  EXPECT_THAT(kept(LimitKind::slowdown, 0.5), ElementsAre(false, true));
}

// Each pair of limits is kept by 90 % of the draws, and by fewer if either is tightened.
TEST(ChoosableRows, PairsOfLimitsAreTheTightest) {
  Drawn planned(50, "jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1},
                {.stock_only = true});
  const Objective objective = least(Goal::energy);
  std::size_t pairs = 0;
  for (const ChoosableRow& row :
       choosable_rows(planned.problem, planned.swept, planned.sweep_draws, objective)) {
    const std::vector<Service> services = planned.sweep_draws.services(row.row, objective);
    const auto share = [&](double latency_s, double power_w) {
      double held = 0;
      for (const Service& service : services)
        held += service.latency_s <= latency_s && service.mean_power_w <= power_w;
      return held / 50;
    };
    for (std::size_t i = 0; i < row.kept.size(); ++i) {
      const auto [latency_s, power_w] = row.kept[i];
      ++pairs;
      EXPECT_GE(share(latency_s, power_w), 0.9);
      EXPECT_LT(share(std::nextafter(latency_s, 0), power_w), 0.9);
      EXPECT_LT(share(latency_s, std::nextafter(power_w, 0)), 0.9);
      if (i > 0) {
        EXPECT_GT(latency_s, row.kept[i - 1].latency_s);
        EXPECT_LT(power_w, row.kept[i - 1].power_w);
      }
    }
  }
  EXPECT_GT(pairs, 6u);
}

// Rows that cannot pass are skipped without drawing them. Against a search that draws every row:
// rows near the fastest have slowdowns of nearly nothing, which a draw multiplies.
TEST(Choice, SkippingRowsLosesNothingUnderASlowdown) {
  CandidateOptions options;
  options.tuned = {true, true, false, false};
  for (const Runtime runtime : {Runtime::tensorrt, Runtime::torch_eager}) {
    Drawn planned(60, "jetson-orin-nano-8gb", "resnet18", runtime, {1}, options);
    for (const double slowdown : {0.03, 0.05, 0.1, 0.2, 0.4, 1.0}) {
      const Objective objective = least(Goal::power, {{LimitKind::slowdown, slowdown, 0, ""}});
      double best = INFINITY;
      for (std::size_t row = 0; row < planned.swept.costs.size(); ++row)
        if (planned.problem.candidates.is_eligible(row) && planned.chooser.holds(row, objective))
          best = std::min(best,
                          service_at(planned.problem, planned.swept, row, objective).mean_power_w);
      const auto chosen = planned.chooser.best(objective);
      ASSERT_EQ(chosen.empty(), std::isinf(best)) << slowdown;
      if (!chosen.empty()) {
        EXPECT_LE(chosen.front().score, best * (1 + 2e-6)) << slowdown;
      }
    }
  }
}

}  // namespace
}  // namespace ridgeline::testing
