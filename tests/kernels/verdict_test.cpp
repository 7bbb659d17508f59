// Verdicts on made-up series: what is impossible, low, noisy, drifting or throttled.
#include "kernels/verdict.h"

#include <gtest/gtest.h>

namespace ridgeline {
namespace {

SampleSeries steady(double rate, double clock_hz) {
  SampleSeries series;
  for (int i = 0; i < 30; ++i) {
    series.rates.push_back(rate * (1 + 1e-4 * (i % 5)));
    series.clocks.push_back(clock_hz);
  }
  return series;
}

TEST(Verdict, GoodReadingsAreOkWithTheory) {
  const Verdict verdict = judge(steady(95e9, 3e9), {.per_hz = 32.0});
  EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_EQ(verdict.note, "");
  ASSERT_TRUE(verdict.theory);
  EXPECT_DOUBLE_EQ(verdict.theory->value, 96e9);
  EXPECT_EQ(verdict.theory->source, Source::datasheet);
  EXPECT_EQ(verdict.rate->source, Source::measured);
}

TEST(Verdict, AboveTheoryIsImpossible) {
  EXPECT_EQ(judge(steady(96e9 * 1.03, 3e9), {.per_hz = 32.0}).status, Status::impossible);
  EXPECT_EQ(judge(steady(96e9 * 1.015, 3e9), {.per_hz = 32.0}).status, Status::ok);
}

TEST(Verdict, WithoutTableNothingIsClaimed) {
  const Verdict verdict = judge(steady(1e15, 3e9), {});
  EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_FALSE(verdict.theory);
}

TEST(Verdict, LowReadingsAreNoted) {
  EXPECT_NE(judge(steady(70e9, 3e9), {.per_hz = 32.0}).note.find("73 % of theory"),
            std::string::npos);
}

TEST(Verdict, NoiseIsNotedAndDoesNotMakeAReadingImpossible) {
  SampleSeries series;
  for (int i = 0; i < 20; ++i) {
    series.rates.push_back(i % 2 ? 60e9 : 130e9);
    series.clocks.push_back(i % 2 ? 1.5e9 : 3e9);
  }
  const Verdict verdict = judge(series, {.per_hz = 32.0});
  EXPECT_NE(verdict.status, Status::impossible);
  EXPECT_NE(verdict.note.find("noisy"), std::string::npos);
}

TEST(Verdict, AFallingClockIsThrottled) {
  SampleSeries series;
  for (int i = 0; i < 30; ++i) {
    const double clock_hz = 3e9 * (i < 15 ? 1.0 : 0.8);
    series.clocks.push_back(clock_hz);
    series.rates.push_back(31 * clock_hz);
  }
  const Verdict verdict = judge(series, {.per_hz = 32.0});
  EXPECT_EQ(verdict.status, Status::throttled);
  EXPECT_NE(verdict.note.find("drifted"), std::string::npos);
}

TEST(Verdict, AKernelAtItsTheoryIsNotThrottledByANoisyProbe) {
  SampleSeries series = steady(0.986 * 32 * 3e9, 3e9);
  for (std::size_t i = 20; i < 30; ++i) series.clocks[i] = 2.4e9;  // interrupted probes
  const Verdict verdict = judge(series, {.per_hz = 32.0});
  EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_EQ(verdict.note, "the probed clock fell by 20 %, the rate did not");
  // Far from theory, or if the rate falls too, the clock is trusted.
  EXPECT_EQ(judge(series, {.per_hz = 34.0}).status, Status::throttled);
  EXPECT_EQ(judge(series, {}).status, Status::throttled);
  for (std::size_t i = 20; i < 30; ++i) series.rates[i] *= 0.8;
  EXPECT_EQ(judge(series, {.per_hz = 32.0}).status, Status::throttled);
}

TEST(Verdict, ChangesAreAgainstTheEarlierValue) {
  EXPECT_EQ(change_text(-0.4), "fell by 40 %");
  EXPECT_EQ(change_text(-1), "fell by 100 %");
  EXPECT_EQ(change_text(0.12), "rose by 12 %");
  EXPECT_EQ(change_text(1.24), "rose to 2.2 times its first value");
  SampleSeries series;
  for (int i = 0; i < 30; ++i) series.rates.push_back(i < 12 ? 324e9 : 100e9);
  EXPECT_NE(judge(series, {}).note.find("drifted: fell by 69 % during the run"), std::string::npos)
      << judge(series, {}).note;
}

TEST(Verdict, AFewReadingsThatDriftAreNotUnsteady) {
  SampleSeries series;
  series.rates = {100e9, 99e9, 92e9};  // a short run: each third is one reading
  EXPECT_TRUE(judge(series, {}).drifted);
  EXPECT_FALSE(judge(series, {}).unsteady);
  series.rates = {100e9, 100e9, 99e9, 99e9, 92e9, 92e9};
  EXPECT_TRUE(judge(series, {}).unsteady);
  series.rates = {100e9, 50e9, 92e9};
  EXPECT_TRUE(judge(series, {}).unsteady);
  EXPECT_FALSE(judge(steady(95e9, 3e9), {.per_hz = 32.0}).unsteady);
  EXPECT_TRUE(judge(steady(96e9 * 1.05, 3e9), {.per_hz = 32.0}).unsteady);
}

TEST(Verdict, RowsOfTheWarmUpSaySo) {
  SampleSeries series = steady(95e9, 3e9);
  series.warm_up = true;
  EXPECT_EQ(judge(series, {.per_hz = 32.0}).note,
            "of the warm-up: the run was stopped before its first round");
}

TEST(Verdict, NothingMeasuredIsNeverAZero) { EXPECT_FALSE(judge({}, {.per_hz = 32.0}).rate); }

TEST(Verdict, ANoisyReadingAboveTheoryIsNoted) {
  SampleSeries series;
  for (int i = 0; i < 20; ++i) {
    series.rates.push_back(i % 2 ? 104e9 : 108e9);
    series.clocks.push_back(i % 2 ? 2.8e9 : 3.3e9);
  }
  const Verdict verdict = judge(series, {.per_hz = 32.0});
  EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_NE(verdict.note.find("of theory"), std::string::npos) << verdict.note;
}

// Twenty readings, half of them this much above and half below: that is the interval of the median.
SampleSeries spread(double half_width) {
  SampleSeries series;
  for (int i = 0; i < 20; ++i)
    series.rates.push_back(1e9 * (1 + (i % 2 ? half_width : -half_width)));
  return series;
}

TEST(Verdict, NoiseIsMoreThanTwoPercent) {
  EXPECT_FALSE(judge(spread(0.015), {}).noisy);
  EXPECT_TRUE(judge(spread(0.03), {}).noisy);
  EXPECT_FALSE(judge(spread(0.08), {}).unsteady);
  EXPECT_TRUE(judge(spread(0.12), {}).unsteady);
}

TEST(Verdict, ThrottlingIsMoreThanFivePercentOfTheClock) {
  const auto falling = [](double share) {
    SampleSeries series = steady(50e9, 3e9);
    for (std::size_t i = 15; i < 30; ++i) series.clocks[i] = share * 3e9;
    return judge(series, {}).status;
  };
  EXPECT_EQ(falling(0.96), Status::ok);
  EXPECT_EQ(falling(0.94), Status::throttled);
}

TEST(Verdict, DriftIsMoreThanFivePercentOfTheRate) {
  const auto moving = [](double share) {
    SampleSeries series = steady(50e9, 3e9);
    for (std::size_t i = 15; i < 30; ++i) series.rates[i] *= share;
    return judge(series, {}).drifted;
  };
  EXPECT_FALSE(moving(0.96));
  EXPECT_TRUE(moving(0.94));
  EXPECT_TRUE(moving(1.07));
}

TEST(Verdict, FewReadingsAreNeverImpossible) {
  const auto verdict = [](int readings) {
    SampleSeries series;
    for (int i = 0; i < readings; ++i) {
      series.rates.push_back(130e9);
      series.clocks.push_back(3e9);
    }
    return judge(series, {.per_hz = 32.0});
  };
  EXPECT_EQ(verdict(4).status, Status::ok);
  EXPECT_NE(verdict(4).note.find("135 % of theory"), std::string::npos);
  EXPECT_EQ(verdict(5).status, Status::impossible);
}

TEST(Verdict, LowIsBelow85Percent) {
  EXPECT_EQ(judge(steady(0.86 * 96e9, 3e9), {.per_hz = 32.0}).note, "");
  EXPECT_EQ(judge(steady(0.84 * 96e9, 3e9), {.per_hz = 32.0}).note, "only 84 % of theory");
  EXPECT_EQ(judge(steady(0.84 * 96e9, 3e9), {.rate = 96e9}).note, "only 84 % of theory");
}

}  // namespace
}  // namespace ridgeline
