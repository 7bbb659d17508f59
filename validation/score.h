// What is computed from scored rows: errors, coverage, ranking of modes, the cost of choosing by
// prediction, noise of repeats. Pure functions; equal rows give equal scores.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validation/groups.h"
#include "validation/validation.h"

namespace ridgeline {

// Agreement of two orders in [−1, 1]: pairs in the same order minus pairs in the opposite one, over
// the pairs that the measurement tells apart. Pairs of two probes are no question. Absent where no
// pair is left.
std::optional<double> kendall_tau(std::span<const double> measured,
                                  std::span<const double> predicted,
                                  const std::vector<bool>& probed = {});

// What the choice by prediction costs more than the best one: measured(chosen) / measured(best)
// − 1.
struct LeastChoice {
  std::size_t chosen = 0, best = 0;
  double regret = 0;
};
LeastChoice choose_least(std::span<const double> measured, std::span<const double> predicted);

// One per group of the rows that has one which was not probed; a mode that was measured more than
// once counts with its mean.
std::vector<Ranking> rank_groups(std::span<const ScoredRow* const> rows);

// Errors are those of the rows that were not probed.
Score score_of(std::span<const ScoredRow* const> rows);

// The score of each value of a key ("device", "mode" …), in the order of the first row; batches
// by size.
std::vector<std::pair<std::string, Score>> score_by(std::string_view key,
                                                    std::span<const ScoredRow* const> rows);
std::span<const std::string_view> score_keys();

ReplicateNoise replicate_noise(std::span<const Observation> rows,
                               std::span<const std::string> modes);

}  // namespace ridgeline
