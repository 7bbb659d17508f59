// What a plan says when no mode keeps the limits, for modes written by hand.
#include "planner/infeasible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planner/handmade.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// 10.234 ms at 20 W, and 20 ms at 8 W.
std::vector<HandMode> quick_and_frugal() {
  return {{1.0e9, 10.234e-3, 20, 2}, {0.5e9, 20e-3, 8, 2}};
}

Infeasibility missed_by(const std::vector<HandMode>& modes, const std::vector<Limit>& limits) {
  Handmade made(modes);
  return infeasibility(made.chooser, least(Goal::energy, limits));
}

TEST(Infeasible, TheNearestMissIsTheRowWhoseWorstLimitIsNearest) {
  const Infeasibility why =
      missed_by(quick_and_frugal(),
                {{LimitKind::latency, 8e-3, 0, "--latency"}, {LimitKind::power, 30, 0, "--power"}});
  EXPECT_EQ(why.nearest, 0u);
  EXPECT_EQ(why.missed.text, "--latency");
  EXPECT_DOUBLE_EQ(why.value, 10.234e-3);
  // Either mode breaks one limit: the quick one power by 100 %, the frugal one latency by a third.
  const Infeasibility either = missed_by(
      quick_and_frugal(),
      {{LimitKind::power, 10, 0, "--power"}, {LimitKind::latency, 15e-3, 0, "--latency"}});
  EXPECT_EQ(either.nearest, 1u);
  EXPECT_EQ(either.missed.text, "--latency");
  EXPECT_DOUBLE_EQ(either.value, 20e-3);
}

TEST(Infeasible, ModesThatMayNotBeChosenAreNotNear) {
  std::vector<HandMode> modes = quick_and_frugal();
  modes[0].allowed = false;
  const Infeasibility why = missed_by(modes, {{LimitKind::latency, 8e-3, 0, ""}});
  EXPECT_EQ(why.nearest, 1u);
  EXPECT_DOUBLE_EQ(why.value, 20e-3);
  ASSERT_EQ(why.relaxed.size(), 1u);
  EXPECT_NEAR(why.relaxed[0].bound, 20e-3, 1e-12);
}

// Three digits, so that the mode keeps what is suggested: a time upwards, a rate downwards.
TEST(Infeasible, SuggestsABoundThatIsKept) {
  const Infeasibility time = missed_by(quick_and_frugal(), {{LimitKind::latency, 8e-3, 0, ""}});
  ASSERT_EQ(time.relaxed.size(), 1u);
  EXPECT_NEAR(time.relaxed[0].bound, 10.3e-3, 1e-12);
  EXPECT_THAT(time.together, IsEmpty());
  // 97.71 samples a second.
  for (const LimitKind kind : {LimitKind::throughput, LimitKind::arrivals}) {
    const Infeasibility rate = missed_by(quick_and_frugal(), {{kind, 1 / 200.0, 0, ""}});
    ASSERT_EQ(rate.relaxed.size(), 1u);
    EXPECT_NEAR(1 / rate.relaxed[0].bound, 97.7, 1e-9);
  }
}

// Latency by a third or power by 105 %: the smaller change first, however they are listed.
TEST(Infeasible, EachLimitThatWouldDoAloneByHowFarItMoves) {
  std::vector<Limit> limits = {{LimitKind::power, 10, 0, ""}, {LimitKind::latency, 15e-3, 0, ""}};
  for (int order = 0; order < 2; ++order) {
    const Infeasibility why = missed_by(quick_and_frugal(), limits);
    ASSERT_EQ(why.relaxed.size(), 2u);
    EXPECT_EQ(why.relaxed[0].limit.kind, LimitKind::latency);
    EXPECT_NEAR(why.relaxed[0].bound, 20e-3, 1e-12);
    EXPECT_EQ(why.relaxed[1].limit.kind, LimitKind::power);
    EXPECT_NEAR(why.relaxed[1].bound, 20, 1e-9);
    std::swap(limits[0], limits[1]);
  }
}

// The frugal mode needs 2.5 times the latency and 8 W instead of 7; the third limit it keeps.
TEST(Infeasible, IfNoLimitAloneIsEnoughTheNearestRowNeedsSeveral) {
  const Infeasibility why = missed_by(quick_and_frugal(), {{LimitKind::latency, 8e-3, 0, ""},
                                                           {LimitKind::power, 7, 0, ""},
                                                           {LimitKind::slowdown, 5, 0, ""}});
  EXPECT_EQ(why.nearest, 1u);
  EXPECT_THAT(why.relaxed, IsEmpty());
  ASSERT_EQ(why.together.size(), 2u);
  EXPECT_EQ(why.together[0].limit.kind, LimitKind::latency);
  EXPECT_NEAR(why.together[0].bound, 20e-3, 1e-12);
  EXPECT_EQ(why.together[1].limit.kind, LimitKind::power);
  EXPECT_NEAR(why.together[1].bound, 8, 1e-9);
}

TEST(Infeasible, TheErrorNamesTheMissAndTheWayOut) {
  std::vector<HandMode> modes = quick_and_frugal();
  modes[0].label = "25W";
  modes[1].label = "7W";
  Handmade made(modes);
  const Error alone = infeasible_error(
      made.chooser, least(Goal::energy, {{LimitKind::power, 10, 0, "--power 10W"},
                                         {LimitKind::latency, 15e-3, 0, "--latency 15ms"}}));
  EXPECT_EQ(alone.code(), ExitCode::infeasible);
  EXPECT_EQ(alone.where(), "--latency 15ms");
  EXPECT_THAT(alone.cause(),
              AllOf(HasSubstr("nearest is 7W, batch 1, fp32"),
                    HasSubstr("20.0 ms instead of 15.0 ms"), Not(HasSubstr("training"))));
  EXPECT_EQ(alone.fix(), "relax latency to 20.0 ms, or power to 20.0 W");
  const Error together = infeasible_error(
      made.chooser,
      least(Goal::energy, {{LimitKind::latency, 8e-3, 0, ""}, {LimitKind::power, 7, 0, ""}}));
  EXPECT_EQ(together.fix(), "relax latency to 20.0 ms and power to 8.00 W");
  // Where nothing can run there is no nearest mode.
  Handmade none({{1.0e9, NAN, NAN, NAN}});
  const Error nothing =
      infeasible_error(none.chooser, least(Goal::energy, {{LimitKind::latency, 1, 0, ""}}));
  EXPECT_EQ(nothing.cause(), "no mode meets the limits");
  EXPECT_EQ(nothing.fix(), "relax more than one limit");
}

// With draws the value is one that holds with the required certainty, beside what is predicted.
TEST(Infeasible, SaysWithWhichCertaintyAValueIsNeeded) {
  const Planned planned("jetson-orin-nano-8gb", "resnet18", Runtime::tensorrt, {1}, "",
                        {.stock_only = true});
  const Objective objective = least(Goal::energy, {{LimitKind::latency, 1e-3, 0, "--latency 1ms"}});
  try {
    planned.plan(objective, {.draws = 40});
    FAIL() << "1 ms cannot be kept";
  } catch (const Error& error) {
    EXPECT_THAT(error.cause(), HasSubstr(" predicted, "));
    EXPECT_THAT(error.cause(), HasSubstr("with 90 % certainty, instead of 1.00 ms"));
  }
  // 36 of the 40 draws take at most the value that is stated.
  const Sweep swept = sweep(planned.problem);
  const auto draws = coefficient_draws(planned.problem.model, Runtime::tensorrt, 40, 1);
  SweepDraws sweep_draws(planned.problem, swept, draws);
  Chooser chooser(planned.problem, swept, sweep_draws, Reach::reboot);
  const Infeasibility why = infeasibility(chooser, objective);
  int held = 0;
  for (const BatchCost& cost : sweep_draws.costs(why.nearest)) held += cost.time_s <= why.value;
  EXPECT_EQ(held, 36);
  for (std::size_t row = 0; row < swept.costs.size(); ++row) {
    Objective enough = objective;
    enough.limits[0].bound = why.value * (1 - 1e-9);
    EXPECT_FALSE(chooser.holds(row, enough)) << row;
  }
}

// Training beside inference.
struct Beside : Handmade {
  explicit Beside(double requests_per_s, double training_s)
      : Handmade({{1.0e9, 10e-3, 20, 2}, {0.5e9, 20e-3, 8, 2}}) {
    problem.scenario = Scenario::concurrent;
    problem.concurrent.stream = {requests_per_s, 0};
    problem.variants[0].minibatch = 8;
    for (BatchCost& cost : swept.costs) {
      cost.training_s = training_s;
      cost.training_w = 10;
    }
  }
};

TEST(Infeasible, InferenceMayBeTooSlowEvenAlone) {
  // A request every 5 ms, which take 10 ms at least.
  Beside busy(200, 30e-3);
  const Objective objective = least(Goal::time, {{LimitKind::latency, 1, 0, "--latency 1s"}});
  const Error error = infeasible_error(busy.chooser, objective);
  EXPECT_EQ(error.where(), "--rate");
  EXPECT_THAT(error.cause(), AllOf(HasSubstr("inference alone is too slow"),
                                   HasSubstr("a network takes 10.0 ms per request in gpu=1000MHz"),
                                   HasSubstr("arrives every 5.00 ms")));
  EXPECT_EQ(error.fix(), "lower --rate to 100 /s");
  // A batch of 4 in the same time serves them.
  busy.problem.variants[0].batch = 4;
  EXPECT_NE(infeasible_error(busy.chooser, objective).where(), "--rate");
  // A mode that may not be chosen does not help.
  Beside forbidden(80, 30e-3);
  forbidden.problem.candidates.modes[0].allowed = false;
  EXPECT_EQ(infeasible_error(forbidden.chooser, objective).fix(), "lower --rate to 50.0 /s");
}

// A request every 20 ms takes 10 ms, and a step of 30 ms cannot be interrupted: it ends 20 ms after
// a request is due.
TEST(Infeasible, AStepOfTrainingMayBeWhatARequestWaitsFor) {
  Beside training(50, 30e-3);
  const Error error =
      infeasible_error(training.chooser, least(Goal::time, {{LimitKind::latency, 20e-3, 0, ""}}));
  EXPECT_THAT(error.cause(), HasSubstr("30.0 ms instead of 20.0 ms"));
  EXPECT_THAT(error.cause(), HasSubstr("training is the reason: a request may wait for a step of "
                                       "30.0 ms, inference itself takes 10.0 ms"));
  EXPECT_THAT(error.fix(), HasSubstr("relax latency to 30.0 ms"));
  EXPECT_THAT(error.fix(), HasSubstr("a smaller --minibatch"));
  EXPECT_FALSE(
      training.chooser.best(least(Goal::time, {{LimitKind::latency, 30e-3, 0, ""}})).empty());
  // If power is what cannot be kept, latency is not blamed.
  const Error power =
      infeasible_error(training.chooser, least(Goal::time, {{LimitKind::power, 1, 0, ""}}));
  EXPECT_THAT(power.cause(), Not(HasSubstr("training is the reason")));
}

}  // namespace
}  // namespace ridgeline::testing
