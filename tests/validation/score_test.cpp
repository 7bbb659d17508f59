// Scores against values computed by hand, and properties that hold for any rows.
#include "validation/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "validation/groups.h"
#include "validation/probes.h"

namespace ridgeline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Estimate around(double value, double half) {
  return {value, value * (1 - half), value * (1 + half), Source::predicted};
}

Observation scored_run(std::string mode, double time_s, std::optional<double> power_w = {},
                       std::string source = "lab", std::int64_t batch = 1) {
  static int line = 1;
  Observation row;
  row.line = ++line;
  row.source = std::move(source);
  row.device = "board";
  row.network = "net";
  row.dtype = DType::fp16;
  row.batch = batch;
  row.conditions.point.label = std::move(mode);
  row.time_s = time_s;
  row.power_w = power_w;
  return row;
}

ScoredRow scored(const Observation& row, double time_s, std::optional<double> power_w = {},
                 double half = 0.1) {
  Forecast forecast;
  forecast.time_s = around(time_s, half);
  if (power_w) {
    forecast.power_w = around(*power_w, half);
    forecast.energy_j = around(*power_w * time_s, half);
  }
  return {row, row.conditions.point.label, forecast};
}

std::vector<const ScoredRow*> pointers(const std::vector<ScoredRow>& rows) {
  std::vector<const ScoredRow*> all;
  for (const ScoredRow& row : rows) all.push_back(&row);
  return all;
}

TEST(KendallTau, CountsPairs) {
  const std::vector<double> measured{1, 2, 3, 4};
  EXPECT_EQ(kendall_tau(measured, std::vector<double>{10, 20, 30, 40}), 1);
  EXPECT_EQ(kendall_tau(measured, std::vector<double>{4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(*kendall_tau(measured, std::vector<double>{1, 3, 2, 4}), 4.0 / 6);
  // A predicted tie counts as half right.
  EXPECT_DOUBLE_EQ(*kendall_tau(measured, std::vector<double>{1, 2, 2, 4}), 5.0 / 6);
  // Pairs that tie in the measurement are ignored.
  EXPECT_EQ(kendall_tau(std::vector<double>{1, 1, 2}, std::vector<double>{2, 1, 3}), 1);
  EXPECT_EQ(kendall_tau(std::vector<double>{1, 1}, std::vector<double>{2, 1}), std::nullopt);
  EXPECT_EQ(kendall_tau(std::vector<double>{1}, std::vector<double>{2}), std::nullopt);
  // Pairs of two probes are ignored, since their order is known.
  EXPECT_DOUBLE_EQ(
      *kendall_tau(measured, std::vector<double>{1, 3, 2, 4}, {true, false, false, true}), 3.0 / 5);
  EXPECT_EQ(kendall_tau(measured, measured, {true, true, true, true}), std::nullopt);
}

TEST(LeastChoice, RegretIsWhatTheBestWouldHaveSaved) {
  const LeastChoice wrong =
      choose_least(std::vector<double>{12, 10, 15}, std::vector<double>{8, 9, 20});
  EXPECT_EQ(wrong.chosen, 0U);
  EXPECT_EQ(wrong.best, 1U);
  EXPECT_DOUBLE_EQ(wrong.regret, 0.2);
  EXPECT_EQ(choose_least(std::vector<double>{3, 2}, std::vector<double>{9, 1}).regret, 0);
}

TEST(Score, ErrorsBiasAndCoverage) {
  const std::vector<ScoredRow> rows{scored(scored_run("A", 1.0, 10), 1.1, 12),   //
                                    scored(scored_run("B", 2.0, 5), 1.6, 5.25),  //
                                    scored(scored_run("C", 4.0), 4.2)};
  const Score score = score_rows(pointers(rows));
  EXPECT_EQ(score.rows, 3);
  EXPECT_EQ(score.groups, 1);
  EXPECT_DOUBLE_EQ(*score.time_mape, (0.1 + 0.2 + 0.05) / 3);
  EXPECT_NEAR(*score.time_bias, (0.1 - 0.2 + 0.05) / 3, 1e-12);
  // 1.1 ± 10 % contains 1.0, 1.6 ± 10 % does not contain 2.0, 4.2 ± 10 % contains 4.0.
  EXPECT_DOUBLE_EQ(*score.time_coverage, 2.0 / 3);
  EXPECT_NEAR(*score.time_half_width, 0.1, 1e-12);
  EXPECT_EQ(score.power_rows, 2);
  EXPECT_NEAR(*score.power_mape, (0.2 + 0.05) / 2, 1e-12);
  EXPECT_NEAR(*score.energy_mape, (0.32 + 0.16) / 2, 1e-12);
  EXPECT_EQ(score.kendall_tau, 1);
  // One mode has no power, so there is no choice by energy.
  EXPECT_EQ(score.choice_groups, 0);
  EXPECT_EQ(score.energy_regret_mean, std::nullopt);
}

TEST(Score, ChoiceByEnergyOverGroups) {
  const std::vector<ScoredRow> rows{scored(scored_run("A", 1, 10, "x"), 1, 10),
                                    scored(scored_run("B", 2, 4, "x"), 2, 6),  // picks A: +25 %
                                    scored(scored_run("A", 1, 10, "y"), 1, 10),
                                    scored(scored_run("B", 2, 4, "y"), 2, 4)};
  const Score score = score_rows(pointers(rows));
  EXPECT_EQ(score.choice_groups, 2);
  EXPECT_DOUBLE_EQ(*score.energy_regret_mean, 0.125);
  EXPECT_DOUBLE_EQ(*score.energy_regret_max, 0.25);
  EXPECT_DOUBLE_EQ(*score.best_mode_hit, 0.5);
  const std::vector<Ranking> rankings = rank_groups(pointers(rows));
  ASSERT_THAT(rankings, SizeIs(2));
  EXPECT_EQ(rankings[0].chosen, "A");
  EXPECT_EQ(rankings[0].best, "B");
}

TEST(Score, RepeatsOfAModeCountOnce) {
  const std::vector<ScoredRow> rows{scored(scored_run("A", 1), 1), scored(scored_run("A", 3), 1),
                                    scored(scored_run("B", 1.5), 0.5)};
  // A takes 2 on average, B 1.5: the order is right.
  EXPECT_EQ(score_rows(pointers(rows)).kendall_tau, 1);
}

TEST(Score, ProbesCountForTheOrderOfModesAlone) {
  std::vector<ScoredRow> rows{scored(scored_run("A", 1, 10), 9, 1),
                              scored(scored_run("B", 2, 10), 2, 10),
                              scored(scored_run("C", 3, 10), 3, 10)};
  rows[0].probed = true;
  const Score score = score_rows(pointers(rows));
  EXPECT_EQ(score.rows, 2);
  EXPECT_EQ(score.time_mape, 0);
  EXPECT_DOUBLE_EQ(*score.kendall_tau, -1.0 / 3);
  EXPECT_EQ(score.energy_regret_mean, 0);
  EXPECT_THAT(score_by("mode", pointers(rows)), SizeIs(2));
  for (ScoredRow& row : rows) row.probed = true;
  EXPECT_EQ(score_rows(pointers(rows)), Score{});
}

TEST(Score, NothingIsNoNumber) {
  const Score score = score_rows({});
  EXPECT_EQ(score, Score{});
}

RC_GTEST_PROP(Score, PartsAddUpToTheWhole, ()) {
  const auto errors = *rc::gen::nonEmpty<std::vector<int>>();
  std::vector<ScoredRow> rows;
  const char* sources[] = {"x", "y", "z"};
  for (std::size_t i = 0; i < errors.size(); ++i)
    rows.push_back(
        scored(scored_run(i % 2 ? "A" : "B", 1.0 + static_cast<double>(i), {}, sources[i % 3]),
               1.0 + std::abs(std::fmod(errors[i], 100.0))));
  const Score total = score_rows(pointers(rows));
  for (const std::string_view key : score_keys()) {
    int count = 0;
    double sum = 0;
    for (const auto& [value, score] : score_by(key, pointers(rows))) {
      count += score.rows;
      sum += *score.time_mape * score.rows;
    }
    RC_ASSERT(count == total.rows);
    RC_ASSERT(std::abs(sum / count - *total.time_mape) <= 1e-9 * (1 + *total.time_mape));
  }
}

RC_GTEST_PROP(KendallTau, IsWithinOneAndTurnsItsSignWithTheOrder,
              (const std::vector<std::pair<int, int>>& pairs)) {
  std::vector<double> measured, predicted, reversed;
  for (const auto& [a, b] : pairs) {
    measured.push_back(a);
    predicted.push_back(b);
    reversed.push_back(-static_cast<double>(b));
  }
  const auto tau = kendall_tau(measured, predicted), opposite = kendall_tau(measured, reversed);
  RC_ASSERT(tau.has_value() == opposite.has_value());
  if (!tau) return;
  RC_ASSERT(*tau >= -1 && *tau <= 1);
  RC_ASSERT(*tau == -*opposite);
}

TEST(Groups, ReplicatesAreEqualInAllButTheSource) {
  const std::vector<Observation> rows{scored_run("A", 1.0, {}, "x"), scored_run("A", 1.1, {}, "y"),
                                      scored_run("B", 1.0, {}, "x"),
                                      scored_run("A", 1.0, {}, "x", 4)};
  const std::vector<std::string> modes = mode_names(rows);
  EXPECT_THAT(modes, ElementsAre("A", "A", "B", "A"));
  EXPECT_THAT(find_replicates(rows, modes), ElementsAre(ElementsAre(0, 1)));
  const ReplicateNoise noise = replicate_noise(rows, modes);
  EXPECT_EQ(noise.sets, 1);
  EXPECT_NEAR(*noise.time, 0.1 / 1.05, 1e-12);
  EXPECT_EQ(noise.power, std::nullopt);
}

TEST(Groups, OneLabelForDifferentClocksIsMoreThanOneMode) {
  std::vector<Observation> rows{scored_run("MaxQ", 1), scored_run("MaxQ", 1),
                                scored_run("MaxQ", 1)};
  rows[0].conditions.point.gpu_hz = 800e6;
  rows[1].conditions.point.gpu_hz = 801e6;  // the same clock, read back
  rows[2].conditions.point.gpu_hz = 900e6;
  const std::vector<std::string> modes = mode_names(rows);
  EXPECT_EQ(modes[0], modes[1]);
  EXPECT_NE(modes[0], modes[2]);
  EXPECT_EQ(modes[2], "MaxQ gpu=900MHz");
}

TEST(Probes, EvenlySpacedPlacesHaveBothEnds) {
  EXPECT_THAT(evenly_spaced(0, 5), IsEmpty());
  EXPECT_THAT(evenly_spaced(1, 5), ElementsAre(0));
  EXPECT_THAT(evenly_spaced(2, 5), ElementsAre(0, 4));
  EXPECT_THAT(evenly_spaced(3, 5), ElementsAre(0, 2, 4));
  EXPECT_THAT(evenly_spaced(5, 5), ElementsAre(0, 1, 2, 3, 4));
}

ChosenProbes chosen(const std::vector<Observation>& rows, const ValidationOptions& options) {
  std::vector<double> times;
  for (const Observation& row : rows) times.push_back(row.time_s);
  return choose_probes(rows, mode_names(rows), times, options);
}

TEST(Probes, FastestAndSlowestModeOfEachGroup) {
  const std::vector<Observation> rows{scored_run("B", 2),
                                      scored_run("C", 3),
                                      scored_run("A", 1),
                                      scored_run("D", 4),
                                      scored_run("A", 5, {}, "other"),
                                      scored_run("B", 6, {}, "other")};
  const ChosenProbes two = chosen(rows, {.probes = 2});
  ASSERT_THAT(two.trials, SizeIs(1));
  EXPECT_THAT(two.trials[0].probes, ElementsAre(2, 3));
  EXPECT_THAT(two.trials[0].scored, ElementsAre(0, 1));
  ASSERT_THAT(two.skipped, SizeIs(2));
  EXPECT_EQ(two.skipped[0].reason, "its group has 2 modes, all of them probes");
  const ChosenProbes none = chosen(rows, {});
  ASSERT_THAT(none.trials, SizeIs(2));
  EXPECT_THAT(none.trials[0].probes, IsEmpty());
  EXPECT_THAT(none.skipped, IsEmpty());
}

TEST(Probes, NamedModes) {
  const std::vector<Observation> rows{scored_run("A", 1), scored_run("B", 2), scored_run("C", 3),
                                      scored_run("A", 1, {}, "other"),
                                      scored_run("B", 1, {}, "other")};
  const ChosenProbes named = chosen(rows, {.probe_modes = {"C", "A"}});
  ASSERT_THAT(named.trials, SizeIs(1));
  EXPECT_THAT(named.trials[0].scored, ElementsAre(1));
  ASSERT_THAT(named.skipped, SizeIs(2));
  EXPECT_EQ(named.skipped[0].reason, "the probe mode C is not among the modes of its group");
}

TEST(Probes, ANetWithOneModeIsProbedAtItsSmallestAndLargestBatch) {
  const std::vector<Observation> rows{
      scored_run("A", 1, {}, "x", 4), scored_run("A", 2, {}, "x", 64),
      scored_run("A", 3, {}, "x", 1), scored_run("A", 4, {}, "x", 16)};
  const ChosenProbes two = chosen(rows, {.probes = 2});
  ASSERT_THAT(two.trials, SizeIs(1));
  EXPECT_THAT(two.trials[0].probes, ElementsAre(1, 2));
  EXPECT_THAT(two.trials[0].scored, ElementsAre(0, 3));
  const ChosenProbes four = chosen(rows, {.probes = 4});
  EXPECT_THAT(four.trials, IsEmpty());
  EXPECT_THAT(four.skipped, SizeIs(4));
}

RC_GTEST_PROP(Probes, EveryRowIsProbeOrScoredOrSkippedOnce, ()) {
  const auto shape = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange(0, 3), rc::gen::inRange(1, 4)));
  const int probes = *rc::gen::inRange(0, 4);
  std::vector<Observation> rows;
  for (const auto& [mode, source, batch] : shape)
    rows.push_back(scored_run(std::string(1, static_cast<char>('A' + mode)), 1 + mode, {},
                              std::to_string(source), batch));
  const ChosenProbes made = chosen(rows, {.probes = probes});
  std::size_t count = made.skipped.size();
  for (const ProbeTrial& trial : made.trials) {
    RC_ASSERT(!trial.scored.empty());
    count += trial.probes.size() + trial.scored.size();
    for (const std::size_t probe : trial.probes)
      for (const std::size_t i : trial.scored)
        RC_ASSERT(rows[probe].conditions.point.label != rows[i].conditions.point.label ||
                  rows[probe].batch != rows[i].batch);
  }
  RC_ASSERT(count == rows.size());
}

}  // namespace
}  // namespace ridgeline
