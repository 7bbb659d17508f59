// Statistics against values computed by hand, against a simulated bootstrap, and against the clock.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "tests/base/error_line.h"

namespace ridgeline::testing {
namespace {

using Samples = std::vector<double>;

Samples skewed(std::size_t n) {
  Random random;
  Samples samples;
  for (std::size_t i = 0; i < n; ++i) samples.push_back(1 - std::log(1 - random.unit()));
  return samples;
}

TEST(Statistics, Medians) {
  EXPECT_EQ(median(Samples{3, 1, 2}), 2);
  EXPECT_EQ(median(Samples{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(Samples{1.7e308, 1.7e308}), 1.7e308);
  EXPECT_EQ(median_absolute_deviation(Samples{1, 1, 2, 2, 4, 6, 9}), 1);
}

TEST(Statistics, QuantilesAreSamples) {
  const Samples samples{10, 20, 30, 40};
  EXPECT_EQ(quantile(samples, 0), 10);
  EXPECT_EQ(quantile(samples, 1), 40);
  EXPECT_EQ(quantile(samples, 0.5), 30);
  EXPECT_EQ(quantile(samples, 0.1), 10);
  EXPECT_EQ(quantile(samples, 0.2), 20);
  EXPECT_EQ(quantile(Samples{5}, 0.3), 5);
}

TEST(Statistics, IntervalOfDraws) {
  Samples draws;
  for (int i = 100; i >= 0; --i) draws.push_back(i);
  EXPECT_EQ(interval_of_draws(50, draws, Source::predicted),
            (Estimate{50, 5, 95, Source::predicted}));
  EXPECT_EQ(interval_of_draws(2, draws, Source::fitted), (Estimate{2, 2, 95, Source::fitted}));
  EXPECT_EQ(interval_of_draws(99, draws, Source::fitted), (Estimate{99, 5, 99, Source::fitted}));
  EXPECT_EQ(interval_of_draws(7, {}, Source::assumed), exact(7, Source::assumed));
}

TEST(Statistics, RelativeStandardError) {
  EXPECT_DOUBLE_EQ(relative_standard_error(Samples{9, 11}), 0.1);  // s = √2, n = 2, mean 10
  EXPECT_EQ(relative_standard_error(Samples{5}), 0);
  EXPECT_EQ(relative_standard_error(Samples{0, 0}), 0);
}

TEST(Statistics, WhatHasNoAnswerIsAnError) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_line([] { median(Samples{}); }), "statistics: no samples");
  EXPECT_EQ(error_line([&] {
              median(Samples{1, infinity});
            }),
            "statistics: a sample is not finite");
  EXPECT_NE(error_line([] { quantile(Samples{1}, 1.5); }), "no error");
  EXPECT_NE(error_line([] { bootstrap_median_interval(Samples{1}, 1); }), "no error");
  EXPECT_NE(error_line([] { theil_sen(Samples{1, 1}, Samples{1, 2}); }), "no error");
  EXPECT_NE(error_line([] { theil_sen(Samples{1, 2}, Samples{1}); }), "no error");
}

TEST(Statistics, IntervalOfFewSamples) {
  const Estimate one = median_estimate(Samples{7}, Source::measured);
  EXPECT_EQ(one, exact(7, Source::measured));
  const SampleInterval three = bootstrap_median_interval(Samples{3, 1, 2});
  EXPECT_EQ(three.low, 1);  // P(median of a resample = 1) = 7/27
  EXPECT_EQ(three.high, 3);
}

TEST(Statistics, IntervalIsTheLimitOfDrawnResamples) {
  for (const std::size_t n : {5u, 31u, 120u, 121u}) {
    Samples samples = skewed(n);
    std::sort(samples.begin(), samples.end());
    Random random{7};
    Samples medians;
    for (int resample = 0; resample < 20000; ++resample) {
      Samples drawn;
      for (std::size_t i = 0; i < n; ++i) drawn.push_back(samples[random.below(n)]);
      medians.push_back(median(drawn));
    }
    const SampleInterval interval = bootstrap_median_interval(samples);
    const auto rank = [&](double value) {
      return std::lower_bound(samples.begin(), samples.end(), value) - samples.begin();
    };
    // Rounded outwards by one sample, and by one more if an even median lies between two.
    const auto below = rank(quantile(medians, 0.05)) - rank(interval.low);
    const auto above = rank(interval.high) - rank(quantile(medians, 0.95));
    EXPECT_TRUE(below == 0 || below == 1 || below == 2) << n << " " << below;
    EXPECT_TRUE(above == 0 || above == 1 || above == 2) << n << " " << above;
  }
}

TEST(Statistics, IntervalHoldsTheMedianAndCoversTheTruth) {
  Random random{11};
  for (const int n : {5, 9, 31, 120}) {
    int covered = 0;
    const int trials = 2000;
    for (int trial = 0; trial < trials; ++trial) {
      Samples samples;
      for (int i = 0; i < n; ++i) samples.push_back(random.unit());
      const Estimate estimate = median_estimate(samples, Source::measured);
      EXPECT_LE(estimate.low, estimate.value);
      EXPECT_LE(estimate.value, estimate.high);
      covered += estimate.low <= 0.5 && 0.5 <= estimate.high;
    }
    const double coverage = covered / static_cast<double>(trials);
    EXPECT_GT(coverage, 0.88) << n;  // 0.90 minus three standard errors
    EXPECT_LT(coverage, 0.97) << n;
  }
}

TEST(Statistics, IntervalsOfAWholeProfileAreQuick) {
  const Samples samples = skewed(120);
  const auto start = std::chrono::steady_clock::now();
  for (int row = 0; row < 150; ++row) bootstrap_median_interval(samples);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(150));
  EXPECT_GT(bootstrap_median_interval(skewed(100000)).low, 1);  // no underflow at large n
}

TEST(Statistics, TheilSenIgnoresOutliers) {
  Samples x, y;
  for (int i = 0; i < 20; ++i) {
    x.push_back(i);
    y.push_back(i % 5 == 0 ? 1000 : 3 * i + 2);
  }
  const FittedLine line = theil_sen(x, y);
  EXPECT_DOUBLE_EQ(line.slope, 3);
  EXPECT_DOUBLE_EQ(line.intercept, 2);
}

}  // namespace
}  // namespace ridgeline::testing
