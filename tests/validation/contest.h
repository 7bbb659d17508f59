// A contest of ways to find the best setting with few runs. Rows of a measurement table are what a
// run would show; how many runs each way needs until its choice is within 3 % of the best one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "validation/decision.h"
#include "validation/predictor.h"

namespace ridgeline::testing {

// One network with all settings that were measured.
struct ContestCase {
  std::string name;
  DecisionGoal goal;
  std::vector<SettingDraws> draws;       // as predicted without this network's own rows
  std::vector<MeasuredSetting> truth;    // by setting
  std::vector<std::vector<int>> places;  // by setting: index on each knob
};

// Cases of a table, with the network left out of the fit of the priors. Energy: one case per group,
// its modes; otherwise one per network, its modes × batches, and time is what counts. With `dtype`,
// only rows of that type.
std::vector<ContestCase> contest_cases(const std::string& table, const std::string& source,
                                       const std::string& dtype, bool energy);

// The same with a deadline: a step may take that many times the least measured one of its case.
std::vector<ContestCase> with_deadline(std::vector<ContestCase> cases, double factor);

// Measured cost per sample over that of the best setting, minus 1; 1 for broken limits.
std::vector<double> real_regrets(const ContestCase& contest);

// Runs needed until the choice stays within the limit. Never more than there are settings.
struct ContestRow {
  std::string name;
  std::vector<double> runs;  // by case; fractions are means over random orders
  double mean() const;
  double worst() const;
  double without_run() const;  // share of the cases where the first choice is right already
};

std::vector<ContestRow> contest(const std::vector<ContestCase>& cases, double limit);

// What tune() does with a case: how often it runs, and what its choice really costs.
struct TunedCase {
  std::size_t runs = 0;
  double expected = 0, real = 0;  // regret
};
std::vector<TunedCase> tuned_cases(const std::vector<ContestCase>& cases, double limit);

// For people, and for docs/validation.md.
std::string contest_text(const std::string& title, const std::vector<ContestRow>& rows,
                         const std::vector<TunedCase>& tuned);

}  // namespace ridgeline::testing
