// The closed loop on a made-up machine: where it stops, what it measures, what it makes of runs
// that nobody expected.
#include "validation/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace ridgeline::testing {
namespace {

// Settings whose times the draws know up to a common factor and an error of their own.
std::vector<SettingDraws> made_up_draws(const std::vector<double>& seconds, double common,
                                        double own) {
  std::mt19937 random(9);
  std::normal_distribution<double> standard;
  std::vector<SettingDraws> settings(seconds.size());
  for (int n = 0; n < 400; ++n) {
    const double shared = common * standard(random);
    for (std::size_t i = 0; i < seconds.size(); ++i)
      settings[i].time.push_back(std::log(seconds[i]) + shared + own * standard(random));
  }
  return settings;
}

SettingRunner truth(const std::vector<double>& seconds, std::vector<std::size_t>* order = nullptr) {
  return [=](std::size_t setting) {
    if (order != nullptr) order->push_back(setting);
    return std::optional<MeasuredSetting>({seconds[setting], {}});
  };
}

TEST(Tuning, OneRunIsEnoughIfTheOrderIsKnown) {
  const std::vector<double> seconds{1, 1.5, 2, 3};
  const Tuning tuning = tune(made_up_draws(seconds, 0.5, 0.02), {}, truth(seconds));
  EXPECT_TRUE(tuning.reached);
  EXPECT_EQ(tuning.choice.setting, 0u);
  EXPECT_EQ(tuning.runs.size(), 1u);
  EXPECT_LT(tuning.choice.regret, 0.03);
}

TEST(Tuning, FindsTheBestAgainstItsPrior) {
  // The third is expected to be 25 % slower than it is.
  const std::vector<double> expected{1, 1.1, 1.05, 1.3, 2}, real{1, 1.05, 0.84, 1.3, 2.1};
  const Tuning tuning = tune(made_up_draws(expected, 0.3, 0.15), {}, truth(real));
  EXPECT_TRUE(tuning.reached);
  EXPECT_EQ(tuning.choice.setting, 2u);
  EXPECT_LE(tuning.runs.size(), 4u);
  EXPECT_GT(tuning.before.regret, 0.03);
}

TEST(Tuning, NeverRunsASettingTwice) {
  const std::vector<double> seconds(6, 1.0);
  TuningOptions options;
  options.regret = 1e-9;
  std::vector<std::size_t> order;
  const Tuning tuning = tune(made_up_draws(seconds, 0.3, 0.2), options, truth(seconds, &order));
  EXPECT_FALSE(tuning.reached);
  EXPECT_EQ(order.size(), 6u);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 6u);
}

TEST(Tuning, ChoosesAMeasuredSettingWhenTimeIsUp) {
  const std::vector<double> seconds{1, 1.01, 1.02, 1.03};
  TuningOptions options;
  options.regret = 1e-6;
  options.most_runs = 1;
  const Tuning tuning = tune(made_up_draws(seconds, 0.3, 0.1), options, truth(seconds));
  ASSERT_EQ(tuning.runs.size(), 1u);
  EXPECT_EQ(tuning.choice.setting, tuning.runs.front().setting);
  const Tuning none = tune(made_up_draws(seconds, 0.3, 0.1), options,
                           [](std::size_t) { return std::optional<MeasuredSetting>(); });
  EXPECT_TRUE(none.runs.empty());
  EXPECT_FALSE(none.reached);
}

TEST(Tuning, KeepsTheLatency) {
  // A larger batch takes less per sample, but too long.
  std::vector<SettingDraws> draws = made_up_draws({1, 4, 12}, 0.1, 0.05);
  draws[1].samples = 8;
  draws[2].samples = 32;
  TuningOptions options;
  options.goal.latency_s = 6;
  const Tuning tuning = tune(draws, options, truth({1, 4, 12}));
  EXPECT_TRUE(tuning.reached);
  EXPECT_EQ(tuning.choice.setting, 1u);
  EXPECT_GT(limits_hold(tuning.draws[1], options.goal), 0.99);
}

TEST(Tuning, AFarOffRunWidensTheDraws) {
  // Everything takes three times as long as expected, and the order is another one.
  const std::vector<double> expected{1, 1.1, 1.2}, real{3.6, 3, 3.3};
  const Tuning tuning = tune(made_up_draws(expected, 0.05, 0.05), {}, truth(real));
  EXPECT_TRUE(tuning.reached);
  EXPECT_EQ(tuning.choice.setting, 1u);
}

}  // namespace
}  // namespace ridgeline::testing
