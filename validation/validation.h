// Validation: predictions held against a measurement table, and what is made of the comparison.
// The values only: who predicts is validation/run.h's, what the scores mean validation/score.h's.
// Errors, bias, coverage and regret are fractions: 0.12 = 12 %.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/prediction.h"
#include "validation/measurement_table.h"

namespace ridgeline {

// A prediction as it is scored: the totals alone.
struct Forecast {
  Estimate time_s;
  std::optional<Estimate> power_w;
  std::optional<Estimate> energy_j;
  BoundBy bound = BoundBy::memory;
};

struct ScoredRow {
  Observation observation;
  std::string mode;  // unique within its group
  Forecast forecast;
  bool probed = false;  // the model was fitted to it: it counts for the order of modes alone

  // Energy of the run, where power was measured.
  std::optional<double> energy_j() const;
};

// A set of rows in numbers. What no row could tell is absent.
struct Score {
  int rows = 0;
  int groups = 0;  // equal in everything but the mode
  std::optional<double> time_mape, time_bias, time_coverage;
  std::optional<double> time_half_width;  // median of (high − low) / 2 over the value
  int power_rows = 0;
  std::optional<double> power_mape, power_bias, power_coverage;
  std::optional<double> energy_mape, energy_bias, energy_coverage;
  int ranked_groups = 0;  // with two modes or more
  std::optional<double> kendall_tau;
  int choice_groups = 0;  // of these, with power in every row
  std::optional<double> energy_regret_mean, energy_regret_max, best_mode_hit;

  friend bool operator==(const Score&, const Score&) = default;
};

// One group: how its modes are ranked, those that were probed among the others, and what choosing
// the least predicted energy costs.
struct Ranking {
  std::string name;  // "gpt2 seq=512 batch 8 bf16 torch-eager inference, energaizer-dvfs"
  int line = 0;      // of its first row
  int modes = 0;
  BoundBy bound = BoundBy::memory;    // of its fastest mode, as predicted
  std::optional<double> kendall_tau;  // of times
  std::string chosen, best;           // modes of least predicted and of least measured energy
  std::optional<double> energy_regret;
};

// Rows that repeat each other tell what no predictor can beat.
struct ReplicateNoise {
  int sets = 0;
  std::optional<double> time;  // mean difference of two repeats over their mean
  std::optional<double> power;
};

// Power that a rig adds to the module: no catalog knows it, so the table's own rows tell.
struct BoardOffset {
  std::string source, device;
  double power_w = 0;
  int rows = 0;  // that it was estimated from
  bool from_probes = false;
};

struct ValidationOptions {
  int probes = 0;
  std::vector<std::string> probe_modes{};  // instead of a number
  std::string cross_validate{};            // "", "model" or "device"
};

struct Validation {
  static constexpr std::string_view schema = "ridgeline.validation/1";
  std::string file;
  ValidationOptions options;
  std::vector<std::string> filter;  // "device=a10-24gb"
  std::vector<ScoredRow> rows;      // in the order of the file
  std::vector<ScoredRow> probes;    // as the model predicts them after the fit
  std::vector<SkippedRow> skipped;
  Score total;
  ReplicateNoise noise;
  std::vector<BoardOffset> board_offsets;
  std::vector<Ranking> rankings;
  // "device" → "a10-24gb" → its score, in the order of the first row.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Score>>>> by;
  std::vector<std::string> notes;  // what a reader must know of these numbers
};

// Indices of the rows that were predicted worst in time, the worst first.
std::vector<std::size_t> worst_rows(const Validation& validation, std::size_t count);

// Relative, signed: (predicted − measured) / measured.
double time_error(const ScoredRow& row);

Json to_json(const Validation& validation);
std::string validation_csv(const Validation& validation);  // one line per scored row
std::string validation_text(const Validation& validation, int width);

}  // namespace ridgeline
