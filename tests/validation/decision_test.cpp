// The rule that chooses runs, against cases that can be worked out without it: losses by hand, a
// run's effect by the formulas of normal distributions, the value of a run by brute force.
#include "validation/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;

SettingDraws times(double samples, const std::vector<double>& seconds,
                   const std::vector<double>& watts = {}) {
  SettingDraws setting;
  setting.samples = samples;
  for (const double value : seconds) setting.time.push_back(std::log(value));
  for (const double value : watts) setting.power.push_back(std::log(value));
  return setting;
}

std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = std::round(value * 1e9) / 1e9;
  return values;
}

TEST(DecisionLosses, OverTheBestOfEachDraw) {
  // Per sample: 2, 4 and 1, 2 s. The second is best in both draws, by a factor of 2.
  const std::vector<SettingDraws> settings{times(1, {2, 4}), times(4, {4, 8})};
  EXPECT_THAT(rounded(losses(settings, {})), ElementsAre(1, 1, 0, 0));
  const Decision decision = decide(settings, {});
  EXPECT_EQ(decision.setting, 1u);
  EXPECT_NEAR(decision.regret, 0, 1e-12);
}

TEST(DecisionLosses, EnergyPerSample) {
  // 10 J and 12 J in one draw, 40 J and 20 J in the other.
  const std::vector<SettingDraws> settings{times(1, {1, 2}, {10, 20}), times(1, {3, 4}, {4, 5})};
  DecisionGoal goal;
  goal.energy = true;
  EXPECT_THAT(rounded(losses(settings, goal)), ElementsAre(0, 1, 0.2, 0));
  const Decision decision = decide(settings, goal);
  EXPECT_EQ(decision.setting, 1u);
  EXPECT_NEAR(decision.regret, 0.1, 1e-12);
}

TEST(DecisionLosses, ABrokenLimitCountsAsTwiceTheBest) {
  const std::vector<SettingDraws> settings{times(8, {4, 4, 16}), times(1, {1, 3, 8})};
  DecisionGoal goal;
  goal.latency_s = 3.5;
  // Draws 0, 1: the first breaks the limit. Draw 2: both do, and the first by twice as much.
  EXPECT_THAT(rounded(losses(settings, goal)), ElementsAre(1, 1, 1, 0, 0, 0));
  EXPECT_NEAR(limits_hold(settings[1], goal), 2.0 / 3, 1e-12);
  EXPECT_EQ(limits_hold(settings[0], goal), 0);
}

// ---- Normal logarithms, apart from the code under test.

constexpr std::size_t three = 3;
using Triple = std::array<double, three>;

struct Normal {
  Triple mean{};
  std::array<Triple, three> covariance{};
};

// A factor L of the covariance, L Lᵀ, by Cholesky.
std::array<Triple, three> factor(const std::array<Triple, three>& a) {
  std::array<Triple, three> l{};
  for (std::size_t i = 0; i < three; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(std::max(sum, 1e-15)) : sum / l[j][j];
    }
  return l;
}

Triple sampled(const Normal& normal, const std::array<Triple, three>& root, std::mt19937& random) {
  std::normal_distribution<double> standard;
  Triple shock{}, value = normal.mean;
  for (double& each : shock) each = standard(random);
  for (std::size_t i = 0; i < three; ++i)
    for (std::size_t j = 0; j <= i; ++j) value[i] += root[i][j] * shock[j];
  return value;
}

// Given a reading of one of them.
Normal posterior_of(const Normal& prior, std::size_t run, double reading, double sigma) {
  Normal result = prior;
  const double variance = prior.covariance[run][run] + sigma * sigma;
  for (std::size_t i = 0; i < three; ++i) {
    const double gain = prior.covariance[i][run] / variance;
    result.mean[i] += gain * (reading - prior.mean[run]);
    for (std::size_t j = 0; j < three; ++j)
      result.covariance[i][j] -= gain * prior.covariance[run][j];
  }
  return result;
}

double least_expected_loss(const Normal& normal, std::mt19937& random) {
  constexpr int samples = 1500;
  const auto root = factor(normal.covariance);
  Triple sums{};
  for (int n = 0; n < samples; ++n) {
    Triple cost = sampled(normal, root, random);
    for (double& each : cost) each = std::exp(each);
    const double best = std::min({cost[0], cost[1], cost[2]});
    for (std::size_t i = 0; i < three; ++i) sums[i] += cost[i] / best - 1;
  }
  return std::min({sums[0], sums[1], sums[2]}) / samples;
}

double brute_force_regret_after(const Normal& prior, std::size_t run, double sigma) {
  constexpr int outcomes = 300;
  std::mt19937 random(7);
  std::normal_distribution<double> standard;
  const auto root = factor(prior.covariance);
  double sum = 0;
  for (int n = 0; n < outcomes; ++n) {
    const double reading = sampled(prior, root, random)[run] + sigma * standard(random);
    sum += least_expected_loss(posterior_of(prior, run, reading, sigma), random);
  }
  return sum / outcomes;
}

std::vector<SettingDraws> drawn(const Normal& normal, int draws) {
  std::mt19937 random(3);
  const auto root = factor(normal.covariance);
  std::vector<SettingDraws> settings(three);
  for (int n = 0; n < draws; ++n) {
    const Triple value = sampled(normal, root, random);
    for (std::size_t i = 0; i < three; ++i) settings[i].time.push_back(value[i]);
  }
  return settings;
}

Normal normal_of(const Triple& mean, const Triple& sigma, double r01, double r02, double r12) {
  const std::array<Triple, three> correlation{{{1, r01, r02}, {r01, 1, r12}, {r02, r12, 1}}};
  Normal normal{mean, {}};
  for (std::size_t i = 0; i < three; ++i)
    for (std::size_t j = 0; j < three; ++j)
      normal.covariance[i][j] = correlation[i][j] * sigma[i] * sigma[j];
  return normal;
}

TEST(DecisionRun, ConditionsAsNormalDistributionsDo) {
  const Normal prior = normal_of({0, 0.5, 1}, {0.2, 0.3, 0.1}, 0.8, -0.5, 0);
  const double sigma = 0.05, reading = 0.3;
  const Normal expected = posterior_of(prior, 0, reading, sigma);
  RunNoise noise;
  noise.time = sigma;
  const auto after = given_run(drawn(prior, 20000), 0, {std::exp(reading), {}}, noise);
  for (std::size_t i = 0; i < three; ++i) {
    double sum = 0, squares = 0;
    for (const double each : after[i].time) sum += each;
    const double mean = sum / 20000;
    for (const double each : after[i].time) squares += (each - mean) * (each - mean);
    EXPECT_NEAR(mean, expected.mean[i], 0.006) << i;
    EXPECT_NEAR(std::sqrt(squares / 20000), std::sqrt(expected.covariance[i][i]), 0.004) << i;
  }
}

TEST(DecisionRun, PowerIsReadAfterTime) {
  // Time and power of one setting fall and rise together; the other has the same power.
  std::mt19937 random(5);
  std::normal_distribution<double> standard;
  std::vector<SettingDraws> settings(2);
  for (int n = 0; n < 20000; ++n) {
    const double common = 0.3 * standard(random);
    settings[0].time.push_back(0.2 * standard(random));
    settings[0].power.push_back(common);
    settings[1].time.push_back(0.1 * standard(random));
    settings[1].power.push_back(common + 1);
  }
  RunNoise noise;
  noise.time = noise.power = 0.01;
  const auto after = given_run(settings, 0, {1, std::exp(0.5)}, noise);
  double sum = 0, other_time = 0;
  for (const double each : after[1].power) sum += each;
  for (const double each : after[1].time) other_time += each;
  EXPECT_NEAR(sum / 20000, 1.5, 0.01);
  EXPECT_NEAR(other_time / 20000, 0, 0.01);
}

struct ValueCase {
  const char* name;
  Normal prior;
  double sigma;
};

std::vector<ValueCase> value_cases() {
  return {
      {"two rivals and a slow one that is hardly known",
       normal_of({0, 0.02, 1.5}, {0.1, 0.1, 0.5}, 0, 0, 0), 0.03},
      {"one is known", normal_of({0, 0.05, 0.1}, {0.01, 0.2, 0.1}, 0, 0, 0), 0.03},
      {"the slow one tells which of the others is fast",
       normal_of({0, 0, 0.6}, {0.15, 0.15, 0.3}, -0.5, 0.85, -0.85), 0.02},
      {"all move together", normal_of({0, 0.03, 0.06}, {0.3, 0.3, 0.3}, 0.99, 0.99, 0.99), 0.03},
      {"noisy runs", normal_of({0, 0.02, 0.04}, {0.1, 0.15, 0.2}, 0.3, 0.1, 0), 0.15},
  };
}

TEST(DecisionRun, ItsValueIsThatOfBruteForce) {
  for (const ValueCase& each : value_cases()) {
    RunNoise noise;
    noise.time = each.sigma;
    const auto settings = drawn(each.prior, 2000);
    std::mt19937 random(1);
    const double now = least_expected_loss(each.prior, random);
    EXPECT_NEAR(decide(settings, {}).regret, now, 0.1 * now + 0.002) << each.name;
    double least = INFINITY;
    std::vector<double> expected;
    for (std::size_t run = 0; run < three; ++run) {
      expected.push_back(brute_force_regret_after(each.prior, run, each.sigma));
      least = std::min(least, expected.back());
      EXPECT_NEAR(expected_regret_after(settings, {}, run, noise), expected.back(),
                  0.12 * now + 0.002)
          << each.name << ", run " << run;
    }
    const auto chosen = choose_run(settings, {}, {false, false, false}, noise);
    ASSERT_TRUE(chosen);
    EXPECT_LE(expected[chosen->setting], least + 0.1 * now + 0.001) << each.name;
  }
}

TEST(DecisionRun, NotWhereTheIntervalIsWidest) {
  const auto settings = drawn(value_cases().front().prior, 1000);
  const auto chosen = choose_run(settings, {}, {false, false, false});
  ASSERT_TRUE(chosen);
  EXPECT_NE(chosen->setting, 2u);
  EXPECT_LT(chosen->regret_after, 0.7 * chosen->regret_now);
}

TEST(DecisionRun, ASettingThatIsNeverChosenMayTellMost) {
  const auto settings = drawn(value_cases()[2].prior, 1000);
  const auto chosen = choose_run(settings, {}, {false, false, false}, {0.02, 0.02});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->setting, 2u);
}

TEST(DecisionRun, MeasuredOnesAreLeftOut) {
  const auto settings = drawn(value_cases().front().prior, 500);
  const auto chosen = choose_run(settings, {}, {true, false, true});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->setting, 1u);
  EXPECT_FALSE(choose_run(settings, {}, {true, true, true}));
}

TEST(DecisionRun, SurpriseIsInSigmas) {
  const Normal prior = normal_of({0, 0, 0}, {0.1, 0.1, 0.1}, 0, 0, 0);
  const auto settings = drawn(prior, 20000);
  RunNoise noise;
  noise.time = 0;
  EXPECT_NEAR(surprise(settings, 0, {std::exp(0.3), {}}, noise), 3, 0.1);
  EXPECT_NEAR(surprise(widened_draws(settings, 3), 0, {std::exp(0.3), {}}, noise), 1, 0.05);
}

}  // namespace
}  // namespace ridgeline::testing
