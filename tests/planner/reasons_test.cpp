// The reasons for a choice among modes written by hand.
#include "planner/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/planner/handmade.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 100 mJ in 10 ms, and 60 mJ in 12 ms.
std::vector<HandMode> costly_and_cheap() {
  return {{1.0e9, 10e-3, 10, 2, 2e9, 1e9, 4, "25W"}, {0.6e9, 12e-3, 5, 2, 2e9, 1e9, 4, "15W"}};
}

Objective within_latency(double bound_s) {
  return least(Goal::energy, {{LimitKind::latency, bound_s, 0, "--latency"}});
}

TEST(Reasons, ALimitBindsIfTheChoiceWouldBeBetterWithoutIt) {
  Handmade made(costly_and_cheap());
  const Objective tight = within_latency(11e-3), wide = within_latency(20e-3);
  const auto bound = planned_limits(made.chooser, tight, made.chooser.best(tight).front());
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_DOUBLE_EQ(bound[0].value, 10e-3);
  EXPECT_EQ(bound[0].probability, 1);
  ASSERT_TRUE(bound[0].gain_without);
  EXPECT_NEAR(*bound[0].gain_without, 0.4, 1e-12);
  const auto free = planned_limits(made.chooser, wide, made.chooser.best(wide).front());
  EXPECT_DOUBLE_EQ(free[0].value, 12e-3);
  EXPECT_FALSE(free[0].gain_without);
}

// Each limit is left out by itself.
TEST(Reasons, OfTwoLimitsOnlyOneBinds) {
  Handmade made(costly_and_cheap());
  Objective objective = within_latency(11e-3);
  objective.limits.insert(objective.limits.begin(), {LimitKind::power, 15, 0, "--power"});
  const auto limits = planned_limits(made.chooser, objective, made.chooser.best(objective).front());
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].limit.kind, LimitKind::power);
  EXPECT_FALSE(limits[0].gain_without);
  EXPECT_TRUE(limits[1].gain_without);
}

// A twentieth of a percent is no gain, a fifth is.
TEST(Reasons, ALimitThatCostsNextToNothingDoesNotBind) {
  for (const double time_s : {9.995e-3, 9.98e-3}) {
    Handmade made({{0.5e9, 10e-3, 10, 2}, {1.0e9, time_s, 12, 2}});
    const Objective objective = least(Goal::time, {{LimitKind::power, 11, 0, ""}});
    const auto limits =
        planned_limits(made.chooser, objective, made.chooser.best(objective).front());
    EXPECT_EQ(limits[0].gain_without.has_value(), time_s < 9.99e-3) << time_s;
  }
}

TEST(Reasons, ACloseCallIsAnotherChoiceOnePercentAway) {
  Handmade made(costly_and_cheap());
  const auto calls = [&](double bound_s) {
    const Objective objective = within_latency(bound_s);
    return close_calls(made.chooser, objective, made.chooser.best(objective).front());
  };
  EXPECT_THAT(calls(11e-3), IsEmpty());
  EXPECT_THAT(calls(11.95e-3),
              ElementsAre("close call: with latency at 12.1 ms the choice would be 15W, batch 1, "
                          "fp32"));
  EXPECT_THAT(calls(12.05e-3),
              ElementsAre("close call: with latency at 11.9 ms the choice would be 25W, batch 1, "
                          "fp32"));
  EXPECT_THAT(calls(10.05e-3),
              ElementsAre("close call: with latency at 9.95 ms no mode would be left"));
  EXPECT_THAT(calls(20e-3), IsEmpty());
}

TEST(Reasons, ASavingIsInTimeAndEnergy) {
  Handmade made(costly_and_cheap());
  const Choice cheap = made.chooser.best(least(Goal::energy)).front();
  ASSERT_EQ(cheap.row, 1u);
  const auto saving = saving_against(made.chooser, least(Goal::energy), cheap, 0);
  ASSERT_TRUE(saving);
  EXPECT_EQ(saving->mode, "25W");
  EXPECT_NEAR(saving->time, -0.2, 1e-12);
  EXPECT_NEAR(*saving->energy, 0.4, 1e-12);
  EXPECT_FALSE(saving->energy_low || saving->energy_high);
}

TEST(Reasons, NoSavingAgainstAModeThatCannotRunOrWithoutPower) {
  Handmade made({{1.0e9, 10e-3, 10, 2}, {0.6e9, NAN, NAN, NAN}, {0.5e9, 12e-3, NAN, NAN}});
  const Choice choice{0, 0.1, 1};
  EXPECT_FALSE(saving_against(made.chooser, {}, choice, 1));
  const auto timed = saving_against(made.chooser, {}, choice, 2);
  ASSERT_TRUE(timed);
  EXPECT_FALSE(timed->energy);
  EXPECT_NEAR(timed->time, 1 - 10.0 / 12, 1e-12);
}

// With draws the saving has an interval, of the same machine in both modes: narrower than the two
// energies would allow by themselves.
TEST(Reasons, TheIntervalOfASavingIsOfOneMachineInBothModes) {
  Drawn planned(60, "jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1},
                {.stock_only = true});
  const auto saving = saving_against(planned.chooser, {}, {0, 0, 1}, 1);
  ASSERT_TRUE(saving && saving->energy_low && saving->energy_high);
  EXPECT_LE(*saving->energy_low, *saving->energy);
  EXPECT_GE(*saving->energy_high, *saving->energy);
  const auto energy = [](const Service& service) { return service.energy_j; };
  const Estimate here = planned.sweep_draws.estimate(0, {}, energy);
  const Estimate there = planned.sweep_draws.estimate(1, {}, energy);
  EXPECT_GT(*saving->energy_low, 1 - here.high / there.low);
  EXPECT_LT(*saving->energy_high, 1 - here.low / there.high);
}

// Around gpu=600MHz, emc=2GHz: one step of each knob, nothing that differs in two.
TEST(Reasons, TheNextSettingOfEachKnob) {
  std::vector<HandMode> modes = {{0.6e9, 10e-3, 10, 2},
                                 {0.2e9, 30e-3, 6, 2},
                                 {0.4e9, 15e-3, 8, 2},  // the next lower
                                 {1.0e9, 7e-3, 20, 2},
                                 {0.8e9, 8e-3, 14, 2},  // the next higher
                                 {0.6e9, 12e-3, 9, 2, 1e9},
                                 {0.4e9, 16e-3, 7, 2, 1e9},
                                 {0.6e9, 9e-3, 11, 2, 2e9, 1.5e9},
                                 {0.6e9, 11e-3, 9.5, 2, 2e9, 1e9, 2},
                                 {0.7e9, NAN, NAN, NAN}};
  modes[9].memory_hz = 3e9;
  modes[9].gpu_hz = 0.6e9;  // memory up, but it cannot run
  Handmade made(modes);
  const Objective objective = within_latency(14e-3);
  struct Expected {
    double time_change, energy_change;
    bool holds;
  };
  std::map<std::pair<std::string, bool>, Expected> expected = {
      {{"gpu", false}, {0.5, 0.2, false}},    {{"gpu", true}, {-0.2, 0.12, true}},
      {{"emc", false}, {0.2, 0.08, true}},    {{"cpu", true}, {-0.1, -0.01, true}},
      {{"cores", false}, {0.1, 0.045, true}},
  };
  const auto changes = knob_changes(made.chooser, objective, {0, 0.1, 1});
  ASSERT_EQ(changes.size(), expected.size());
  for (const KnobChange& change : changes) {
    const auto found = expected.find({change.knob, change.up});
    ASSERT_NE(found, expected.end()) << change.knob << change.up;
    EXPECT_NEAR(change.time_change, found->second.time_change, 1e-9) << change.knob;
    EXPECT_NEAR(*change.energy_change, found->second.energy_change, 1e-9) << change.knob;
    EXPECT_EQ(change.holds, found->second.holds) << change.knob;
    EXPECT_EQ(change.probability, found->second.holds ? 1 : 0) << change.knob;
  }
  EXPECT_THAT(changes.front().request, HasSubstr("gpu=400MHz"));
}

TEST(Reasons, BrokenLimitsAreNamedWithTheirValues) {
  Handmade made(costly_and_cheap());
  Objective objective = within_latency(11e-3);
  objective.limits.push_back({LimitKind::power, 4, 0, ""});
  EXPECT_THAT(broken_limits(made.chooser, objective, 0),
              ElementsAre("breaks power: 10.0 W instead of 4.00 W"));
  EXPECT_THAT(broken_limits(made.chooser, objective, 1),
              ElementsAre("breaks latency: 12.0 ms instead of 11.0 ms",
                          "breaks power: 5.00 W instead of 4.00 W"));
  EXPECT_THAT(broken_limits(made.chooser, within_latency(12e-3), 1), IsEmpty());
  // 90 samples a second cannot be served at 12 ms each.
  Objective rate = at_rate(90);
  rate.limits = {{LimitKind::latency, 1, 0, ""}};
  EXPECT_THAT(broken_limits(made.chooser, rate, 1),
              ElementsAre("breaks latency: work piles up instead of 1.00 s"));
}

TEST(Reasons, LimitsThatHoldTooSeldomAreNamedWithTheirProbability) {
  Drawn planned(100, "jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1},
                {.stock_only = true});
  std::vector<double> times;
  for (const BatchCost& cost : planned.sweep_draws.costs(0)) times.push_back(cost.time_s);
  std::sort(times.begin(), times.end());
  const Objective objective = within_latency((times[69] + times[70]) / 2);
  ASSERT_LE(planned.swept.costs[0].time_s, objective.limits[0].bound);
  const auto broken = broken_limits(planned.chooser, objective, 0);
  ASSERT_EQ(broken.size(), 1u);
  EXPECT_THAT(broken[0], HasSubstr("meets latency with probability 70 % only"));
  Objective risky = objective;
  risky.risk = 0.7;
  EXPECT_THAT(broken_limits(planned.chooser, risky, 0), IsEmpty());
}

// A batch that keeps the limits before one that does not; then the lower score; then the first.
TEST(Reasons, ABatchThatKeepsTheLimitsSuitsAModeBest) {
  Handmade made({{1.0e9, 10e-3, 10, 2}}, {1, 2, 4});
  made.swept.costs[1].power_w = 9;  // per sample 90 mJ
  made.swept.costs[2].power_w = 8;
  EXPECT_EQ(best_row(made.chooser, least(Goal::energy), 0), 2u);
  EXPECT_EQ(best_row(made.chooser, within_latency(20e-3), 0), 1u);
  EXPECT_EQ(best_row(made.chooser, within_latency(10e-3), 0), 0u);
  EXPECT_EQ(best_row(made.chooser, within_latency(1e-3), 0), 2u);  // none: by score alone
  EXPECT_EQ(best_row(made.chooser, least(Goal::time), 0), 0u);     // equal: the first
  made.swept.costs[0].time_s = 50e-3;
  EXPECT_EQ(best_row(made.chooser, within_latency(45e-3), 0), 2u);
}

TEST(Reasons, WhyAnotherModeWasNotChosen) {
  std::vector<HandMode> modes = costly_and_cheap();
  modes.push_back({0.7e9, 12e-3, 5, 2});               // equal, higher clocks
  modes.push_back({0.8e9, 15e-3, 0.0599 / 15e-3, 2});  // as little energy, slower
  modes.push_back({0.9e9, 12e-3, 6, 2});
  modes[4].allowed = false;
  Handmade made(modes);
  const Objective free = least(Goal::energy);
  const Choice choice{1, 0.06, 1};
  const auto why = [&](const Objective& objective, const Choice& chosen, std::size_t mode) {
    return why_not(made.chooser, objective, chosen, mode);
  };
  EXPECT_THAT(why(free, choice, 1).reasons, ElementsAre("it is the chosen mode"));
  const WhyNot dear = why(free, choice, 0);
  EXPECT_EQ(dear.row, 0u);
  EXPECT_EQ(dear.probability, 1);
  EXPECT_THAT(dear.reasons, ElementsAre("66.7 % more energy per sample than the chosen mode"));
  EXPECT_THAT(why(free, choice, 2).reasons,
              ElementsAre("as good as the chosen mode, which has lower clocks"));
  EXPECT_THAT(why(free, choice, 3).reasons,
              ElementsAre("as good as the chosen mode within 1 %, but 25.0 % slower"));
  EXPECT_THAT(why(free, choice, 4).reasons,
              ElementsAre("it is not among the modes that were asked for",
                          "20.0 % more energy per sample than the chosen mode"));
  const WhyNot late = why(within_latency(11e-3), {0, 0.1, 1}, 1);
  EXPECT_EQ(late.probability, 0);
  EXPECT_THAT(late.reasons, ElementsAre("breaks latency: 12.0 ms instead of 11.0 ms"));
  EXPECT_THAT(why(least(Goal::time), {0, 10e-3, 1}, 1).reasons,
              ElementsAre("20.0 % more time than the chosen mode"));
}

TEST(Reasons, GoalsHaveTheirWords) {
  EXPECT_EQ(goal_text(Scenario::inference, Goal::energy), "energy per sample");
  EXPECT_EQ(goal_text(Scenario::training, Goal::energy), "energy per epoch");
  EXPECT_EQ(goal_text(Scenario::concurrent, Goal::energy), "energy per trained sample");
  EXPECT_EQ(goal_text(Scenario::inference, Goal::time), "time");
  EXPECT_EQ(goal_text(Scenario::training, Goal::time), "time per epoch");
  EXPECT_EQ(goal_text(Scenario::concurrent, Goal::time), "time per trained sample");
  EXPECT_EQ(goal_text(Scenario::training, Goal::power), "power");
}

TEST(Reasons, TheVariantIsNamedWithItsMinibatchIfItTrainsBesideInference) {
  PlanVariant variant;
  variant.batch = 4;
  variant.dtype = DType::fp16;
  variant.minibatch = 16;
  EXPECT_EQ(text_of(variant), "batch 4, fp16");
  variant.trained = std::make_shared<const NetworkLoad>();
  EXPECT_EQ(text_of(variant), "batch 4, fp16, minibatch 16");
}

}  // namespace
}  // namespace ridgeline::testing
