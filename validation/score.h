// What is computed from scored rows: errors, coverage, ranking of modes, the cost of choosing by
// prediction, noise of repeats. Errors, bias, coverage and regret are fractions: 0.12 = 12 %.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/observation.h"
#include "validation/predictor.h"

namespace ridgeline {

struct ScoredRow {
  Observation observation;
  std::string mode;  // unique within its group
  Forecast forecast;
  bool probed = false;  // the model was fitted to it: it counts only in the order of modes
  // At the clock that the mode asks for, if a lower one was seen: what a choice is made by.
  std::optional<Forecast> as_asked{};

  std::optional<double> energy_j() const;  // as measured; absent without power
};

// A set of rows in numbers; absent if no row has what a number needs.
struct Score {
  int rows = 0;
  int groups = 0;  // equal in everything but the mode
  std::optional<double> time_mape, time_bias, time_coverage;
  std::optional<double> time_half_width;  // median of (high − low) / 2 over the value
  int power_rows = 0;
  std::optional<double> power_mape, power_bias, power_coverage, power_half_width;
  std::optional<double> energy_mape, energy_bias, energy_coverage, energy_half_width;
  int ranked_groups = 0;  // with two modes or more
  std::optional<double> kendall_tau;
  int choice_groups = 0;  // of these, with power in every row
  std::optional<double> energy_regret_mean, energy_regret_max, best_mode_hit;

  friend bool operator==(const Score&, const Score&) = default;
};

// One group: how well its modes are ranked, probed ones included, and what it costs to choose the
// least predicted energy.
struct Ranking {
  std::string name;  // of the group
  int line = 0;      // of its first row
  int modes = 0;
  BoundBy bound = BoundBy::memory;    // of its fastest mode, as predicted
  std::optional<double> kendall_tau;  // of times
  std::string chosen, best;           // modes of least predicted and of least measured energy
  std::optional<double> energy_regret;
};

// Differences of rows that repeat each other: no predictor can do better.
struct ReplicateNoise {
  int sets = 0;
  std::optional<double> time;  // mean difference of two repeats over their mean
  std::optional<double> power;
};

// Relative, signed: (predicted − measured) / measured.
double time_error(const ScoredRow& row);

// Agreement of two orders in [−1, 1]: pairs in the same order minus pairs in the opposite one, over
// the pairs that differ as measured. Pairs of two probes are ignored. Absent if no pair is left.
std::optional<double> kendall_tau(std::span<const double> measured,
                                  std::span<const double> predicted,
                                  const std::vector<bool>& probed = {});

// What choosing by prediction costs: regret = measured(chosen) / measured(best) − 1. With `times`,
// the fastest of those within 1 % of the least prediction is chosen, as `plan` does.
struct LeastChoice {
  std::size_t chosen = 0, best = 0;
  double regret = 0;
};
LeastChoice choose_least(std::span<const double> measured, std::span<const double> predicted,
                         std::span<const double> times = {});

// One per group with a row that was not probed, in the order of the file; repeats of a mode are
// averaged.
std::vector<Ranking> rank_groups(std::span<const ScoredRow* const> rows);

// Errors of the rows that were not probed. `rankings` are those of the rows.
Score score_rows(std::span<const ScoredRow* const> rows, std::span<const Ranking> rankings);
Score score_rows(std::span<const ScoredRow* const> rows);

// The score of each value of a key ("device", "mode" …), in the order of the first row; batches
// by size.
std::vector<std::pair<std::string, Score>> score_by(std::string_view key,
                                                    std::span<const ScoredRow* const> rows);
std::span<const std::string_view> score_keys();

ReplicateNoise replicate_noise(std::span<const Observation> rows,
                               std::span<const std::string> modes);

}  // namespace ridgeline
