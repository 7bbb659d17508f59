// The sampler against made-up trials and a made-up clock: rounds, budgets, rejection, interruption.
#include "kernels/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"

namespace ridgeline {
namespace {

// A machine whose time advances only while trials run.
struct FakeMachine {
  double time_s = 0;
  int questions = 0;
  int interrupt_after = -1;  // runs; −1 = never
  int runs = 0;
  std::function<OtherLoad(int)> load = [](int) { return OtherLoad{}; };
  std::vector<double> progress;

  SamplerWorld world() {
    return {[this] { return time_s; }, [this] { return load(questions++); },
            [this] { return interrupt_after >= 0 && runs >= interrupt_after; },
            [this](double done, double) { progress.push_back(done); }};
  }

  Trial trial(const std::string& name, std::function<double(int)> rate, double seconds = 0.01) {
    return {name, [this, rate, seconds, count = 0]() mutable {
              time_s += seconds;
              ++runs;
              return Reading{rate(count++), 3e9};
            }};
  }
};

TEST(Sampler, FindsTheMedianOfASteadyTrialAndEndsEarly) {
  FakeMachine machine;
  const auto result =
      sample({machine.trial("steady", [](int) { return 100.0; })}, {}, machine.world());
  ASSERT_EQ(result.series.size(), 1u);
  EXPECT_DOUBLE_EQ(median(result.series[0].rates), 100);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.rounds, SamplerOptions{}.min_rounds);
}

TEST(Sampler, KeepsWithinItsBudgetForNoisyTrials) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 10;
  const auto noisy = [](int i) { return i % 2 ? 80.0 : 120.0; };
  const auto result = sample({machine.trial("a", noisy, 0.05), machine.trial("b", noisy, 0.02)},
                             options, machine.world());
  EXPECT_LE(machine.time_s, 10.0);
  EXPECT_GT(machine.time_s, 9.0);
  EXPECT_EQ(result.series[0].rates.size(), result.series[1].rates.size());
}

// A trial of seconds leaves time for eight rounds: one of milliseconds is then read often in each,
// and its median is that of all these readings.
TEST(Sampler, QuickTrialsAreReadMoreOftenWhereRoundsAreFew) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 50;
  int quick_runs = 0, slow_runs = 0;
  const auto noisy = [&](int i) {
    ++quick_runs;
    return 100 + 10.0 * ((i * 7919) % 101 - 50) / 50;
  };
  const auto slow = [&](int i) {
    ++slow_runs;
    return i % 2 ? 80.0 : 120.0;
  };
  const auto result = sample({machine.trial("quick", noisy, 0.004), machine.trial("slow", slow, 4)},
                             options, machine.world());
  EXPECT_LE(machine.time_s, 55);
  EXPECT_LT(result.rounds, 12);
  EXPECT_GE(quick_runs, 20 * result.rounds);
  EXPECT_LE(slow_runs, result.rounds + 5);
  EXPECT_EQ(result.series[0].rates.size(), result.series[1].rates.size());
  EXPECT_NEAR(median(result.series[0].rates), 100, 1.5);

  FakeMachine enough;  // time for many rounds: once in each
  int runs = 0;
  const auto steady = [&](int) {
    ++runs;
    return 100.0;
  };
  const auto usual = sample({enough.trial("quick", steady, 1e-5), enough.trial("slow", noisy, 0.1)},
                            options, enough.world());
  EXPECT_LE(runs, usual.rounds + 5);
}

TEST(Sampler, WarmUpEndsWhenReadingsAgree) {
  FakeMachine machine;
  const auto ramp = [](int i) { return i < 8 ? 10.0 * (i + 1) : 100.0; };
  const auto result = sample({machine.trial("ramp", ramp, 0.001)}, {}, machine.world());
  for (const double rate : result.series[0].rates) EXPECT_DOUBLE_EQ(rate, 100);
}

TEST(Sampler, InterleavesTrialsInChangingOrder) {
  FakeMachine machine;
  std::vector<std::string> order;
  std::vector<Trial> trials;
  for (const std::string name : {"a", "b", "c", "d"})
    trials.push_back({name, [&, name] {
                        order.push_back(name);
                        machine.time_s += 0.01;
                        return Reading{1, 0};
                      }});
  sample(trials, {}, machine.world());
  const std::size_t warm_up = 4 * 5;
  ASSERT_GE(order.size(), warm_up + 40);
  std::map<std::vector<std::string>, int> orders;
  for (std::size_t i = warm_up; i + 4 <= order.size(); i += 4) {
    std::vector<std::string> round(order.begin() + std::ptrdiff_t(i),
                                   order.begin() + std::ptrdiff_t(i + 4));
    ++orders[round];
    std::ranges::sort(round);
    EXPECT_EQ(round, (std::vector<std::string>{"a", "b", "c", "d"}));
  }
  EXPECT_GT(orders.size(), 3u);
}

TEST(Sampler, SetsRoundsUnderForeignLoadAside) {
  FakeMachine machine;
  // Every third round is disturbed and reads half the rate.
  machine.load = [](int question) {
    return OtherLoad{0, question > 0 && question % 3 == 0 ? 0.4 : 0.0};
  };
  SamplerOptions options;
  options.budget_s = 5;
  options.load_window_s = 0;
  int round = 0;
  const Trial trial{"t", [&] {
                      machine.time_s += 0.01;
                      ++round;
                      // The first five runs are the warm-up.
                      return Reading{round > 5 && (round - 5) % 3 == 0 ? 50.0 : 100.0, 0};
                    }};
  const auto result = sample({trial}, options, machine.world());
  EXPECT_GT(result.rejected_rounds, 0);
  EXPECT_FALSE(result.disturbed);
  EXPECT_DOUBLE_EQ(result.load.other_fraction, 0);
  for (const double rate : result.series[0].rates) EXPECT_DOUBLE_EQ(rate, 100);
}

// A hypervisor that takes the processor away is as bad as another program.
TEST(Sampler, SetsRoundsWithStolenTimeAside) {
  FakeMachine machine;
  machine.load = [](int question) {
    return OtherLoad{question > 0 && question % 3 == 0 ? 0.02 : 0.0, 0};
  };
  SamplerOptions options;
  options.budget_s = 5;
  options.load_window_s = 0;
  const auto result =
      sample({machine.trial("t", [](int) { return 100.0; })}, options, machine.world());
  EXPECT_GT(result.rejected_rounds, 0);
  EXPECT_FALSE(result.disturbed);
  EXPECT_DOUBLE_EQ(result.load.steal_fraction, 0);
}

TEST(Sampler, JudgesTheLoadOfShortRoundsTogether) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 5;
  options.good_half_width = 0;
  const auto result = sample({machine.trial(
                                 "t", [](int i) { return 100.0 + i % 3; }, 0.1)},
                             options, machine.world());
  EXPECT_GT(result.rounds, 40);
  EXPECT_LE(machine.questions, 7);
}

TEST(Sampler, MeasuresABusyMachineAsItIsAndSaysSo) {
  FakeMachine machine;
  machine.load = [](int) { return OtherLoad{0.01, 0.5}; };
  SamplerOptions options;
  options.budget_s = 2;
  const auto result =
      sample({machine.trial("t", [](int) { return 100.0; })}, options, machine.world());
  EXPECT_TRUE(result.disturbed);
  EXPECT_EQ(result.rejected_rounds, 0);
  EXPECT_FALSE(result.series[0].rates.empty());
  EXPECT_NEAR(result.load.other_fraction, 0.5, 1e-12);
  EXPECT_NEAR(result.load.steal_fraction, 0.01, 1e-12);
}

TEST(Sampler, InterruptionKeepsWhatWasMeasured) {
  for (const int after : {0, 1, 4, 12, 37}) {
    FakeMachine machine;
    machine.interrupt_after = after;
    const auto noisy = [](int i) { return 100.0 + i % 7; };
    const auto result =
        sample({machine.trial("a", noisy), machine.trial("b", noisy)}, {}, machine.world());
    EXPECT_FALSE(result.complete) << after;
    EXPECT_LE(machine.runs, after + 1) << after;
    for (const SampleSeries& series : result.series)
      for (const double rate : series.rates) EXPECT_GE(rate, 100) << after;
  }
}

// Ctrl-C in the first second: the readings of the warm-up are all there is, and they count.
TEST(Sampler, InterruptionInTheWarmUpKeepsItsReadings) {
  FakeMachine machine;
  machine.interrupt_after = 7;  // five runs of the first trial, two of the second
  const auto steady = [](int) { return 100.0; };
  const auto result =
      sample({machine.trial("a", steady), machine.trial("b", steady), machine.trial("c", steady)},
             {}, machine.world());
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.left_out, 0);
  ASSERT_EQ(result.series.size(), 3u);
  EXPECT_EQ(result.series[0].rates.size(), 5u);
  EXPECT_EQ(result.series[0].clocks.size(), 5u);
  EXPECT_EQ(result.series[1].rates.size(), 2u);
  EXPECT_TRUE(result.series[0].warm_up && result.series[1].warm_up);
  EXPECT_TRUE(result.series[2].rates.empty());
  EXPECT_FALSE(result.series[2].warm_up);
}

TEST(Sampler, InterruptionInTheFirstRoundKeepsTheWarmUpOfAllTrials) {
  FakeMachine machine;
  machine.interrupt_after = 11;  // all are warm, plus one reading of the first round
  const auto steady = [](int) { return 100.0; };
  const auto result =
      sample({machine.trial("a", steady), machine.trial("b", steady)}, {}, machine.world());
  EXPECT_EQ(result.series[0].rates.size() + result.series[1].rates.size(), 11u);
  EXPECT_TRUE(result.series[0].warm_up && result.series[1].warm_up);
}

TEST(Sampler, OnceARoundIsWholeTheWarmUpDoesNotCount) {
  FakeMachine machine;
  machine.interrupt_after = 13;
  const auto ramp = [](int i) { return i < 5 ? 1.0 : 100.0; };
  const auto result =
      sample({machine.trial("a", ramp), machine.trial("b", ramp)}, {}, machine.world());
  for (const SampleSeries& series : result.series) {
    EXPECT_FALSE(series.warm_up);
    EXPECT_EQ(series.rates, std::vector<double>{100.0});
  }
}

// --budget holds within 20 % plus a second, for any number of trials and any preparation time.
TEST(Sampler, PreparationWarmUpAndRoundsShareTheBudget) {
  for (const double budget_s : {1.0, 5.0, 10.0, 50.0})
    for (const int count : {1, 20, 130, 400})
      for (const double prepare_s : {0.0, 0.02, 0.2}) {
        FakeMachine machine;
        std::vector<Trial> trials;
        for (int i = 0; i < count; ++i)
          trials.push_back({"t", [&, i, runs = 0]() mutable {
                              machine.time_s += (runs == 0 ? prepare_s : 0) + (i % 3 ? 5e-3 : 3e-2);
                              return Reading{runs++ % 2 ? 80.0 : 120.0, 3e9};
                            }});
        SamplerOptions options;
        options.budget_s = budget_s;
        const auto result = sample(trials, options, machine.world());
        EXPECT_LE(machine.time_s, 1.2 * budget_s + 1)
            << budget_s << " s, " << count << " trials, " << prepare_s << " s each";
        EXPECT_GE(machine.time_s, 0.7 * std::min(budget_s, 400 * 0.03 * count)) << count;
        ASSERT_EQ(std::ssize(result.series), count);
        // Trials are left out from the end, and all others have readings.
        for (int i = 0; i < count; ++i)
          EXPECT_EQ(result.series[static_cast<std::size_t>(i)].rates.empty(),
                    i >= count - result.left_out);
        EXPECT_LT(result.left_out, count);
        EXPECT_TRUE(result.complete);
      }
}

TEST(Sampler, KeepsAllTrialsWhereAsked) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 0.1;
  options.keep_all = true;
  const auto noisy = [](int i) { return i % 2 ? 80.0 : 120.0; };
  const auto result = sample({machine.trial("a", noisy, 0.2), machine.trial("b", noisy, 0.2)},
                             options, machine.world());
  EXPECT_EQ(result.left_out, 0);
  EXPECT_EQ(result.rounds, 3);
  for (const SampleSeries& series : result.series) EXPECT_EQ(series.rates.size(), 3u);
}

TEST(Sampler, NothingIsLeftOutWhereThereIsTime) {
  FakeMachine machine;
  std::vector<Trial> trials;
  for (int i = 0; i < 100; ++i)
    trials.push_back(machine.trial(
        "t", [](int run) { return 100.0 + run % 3; }, 5e-3));
  EXPECT_EQ(sample(trials, {}, machine.world()).left_out, 0);
}

// Pointer chains of growing size: each takes time to build before the first reading.
std::vector<LoneTrial> ladder(FakeMachine& machine, double seconds_per_byte) {
  std::vector<LoneTrial> steps;
  for (double bytes = 4096; bytes < 2e8; bytes *= 2) {
    LoneTrial step;
    step.trial = machine.trial(
        "chase", [](int run) { return run % 2 ? 90.0 : 100.0; }, 5e-3);
    step.size = bytes;
    step.prepare = [&machine, bytes, seconds_per_byte] {
      machine.time_s += bytes * seconds_per_byte;
    };
    steps.push_back(step);
  }
  return steps;
}

TEST(Sampler, LoneTrialsShareTheBudgetAndTheLongestAreLeftOut) {
  for (const double budget_s : {0.75, 1.5, 7.5, 30.0})
    for (const double seconds_per_byte : {0.0, 2e-9, 2e-8, 2e-7}) {
      FakeMachine machine;
      SamplerOptions options;
      options.budget_s = budget_s;
      const auto steps = ladder(machine, seconds_per_byte);
      const auto results = sample_alone(steps, options, machine.world());
      ASSERT_EQ(results.size(), steps.size());
      EXPECT_LE(machine.time_s, 1.2 * budget_s + 1) << seconds_per_byte;
      EXPECT_FALSE(results.front().series.front().rates.empty());
      const auto left_out = [](const Sampling& step) { return step.left_out; };
      EXPECT_TRUE(std::ranges::is_sorted(results, {}, left_out));
      if (seconds_per_byte == 0) {
        EXPECT_EQ(joined(results).left_out, 0);
      }
      for (const Sampling& step : results)
        EXPECT_EQ(step.series.front().rates.empty(), step.left_out == 1);
    }
}

// A step gets its share of the time that is left, not the least that a trial needs.
TEST(Sampler, LoneTrialsUseTheirTime) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 30;
  options.good_half_width = 0;
  const auto steps = ladder(machine, 0);
  const double began = machine.time_s;
  const auto results = sample_alone(steps, options, machine.world());
  EXPECT_GT(machine.time_s - began, 0.8 * options.budget_s);
  for (const Sampling& step : results) EXPECT_GT(step.series.front().rates.size(), 20u);
}

TEST(Sampler, PartsOfARunAreJudgedByTheirTime) {
  Sampling tick, quiet;
  tick.load = {0, 0.5};  // one tick of a very short step
  tick.disturbed = true;
  tick.watched_s = 0.02;
  quiet.watched_s = 1.98;
  const Sampling whole = joined({tick, quiet});
  EXPECT_NEAR(whole.load.other_fraction, 0.005, 1e-12);
  EXPECT_FALSE(whole.disturbed);
  EXPECT_TRUE(joined({tick}).disturbed);
}

TEST(Sampler, ProgressNeverGoesBack) {
  FakeMachine machine;
  SamplerOptions options;
  options.budget_s = 3;
  sample({machine.trial("t", [](int i) { return i % 2 ? 80.0 : 120.0; })}, options,
         machine.world());
  ASSERT_FALSE(machine.progress.empty());
  EXPECT_TRUE(std::ranges::is_sorted(machine.progress));
  EXPECT_LE(machine.progress.back(), 1);
}

TEST(Sampler, SameInputsGiveTheSameSeries) {
  const auto once = [] {
    FakeMachine machine;
    const auto noisy = [](int i) { return 100 + 10 * std::sin(i * 1.7); };
    return sample({machine.trial("a", noisy), machine.trial("b", noisy)}, {}, machine.world());
  };
  const auto first = once(), second = once();
  EXPECT_EQ(first.series[0].rates, second.series[0].rates);
  EXPECT_EQ(first.series[1].rates, second.series[1].rates);
}

TEST(Drift, ComparesTheFirstAndLastThird) {
  EXPECT_DOUBLE_EQ(drift({}), 0);
  EXPECT_DOUBLE_EQ(drift({1, 1}), 0);
  EXPECT_DOUBLE_EQ(drift({100, 100, 100, 100, 100, 100}), 0);
  EXPECT_NEAR(drift({100, 100, 100, 95, 90, 90}), -0.1, 1e-12);
  EXPECT_NEAR(drift({100, 100, 100, 100, 220, 220}), 1.2, 1e-12);
  EXPECT_NEAR(drift({100, 100, 1, 1, 0, 0}), -1, 1e-12);  // at most 100 %
  EXPECT_DOUBLE_EQ(drift({0, 0, 1, 1, 1, 1}), 0);
}

}  // namespace
}  // namespace ridgeline
