// Validation: predictions compared with a measurement table. Implausible rows are skipped, probes
// fitted, the other rows predicted and scored.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "validation/measurement_table.h"
#include "validation/predictor.h"
#include "validation/score.h"

namespace ridgeline {

// Power that a measuring rig adds to the module, estimated from its probes. Rows that are scored
// never teach it: without probes the prior of the offset counts.
struct BoardOffset {
  std::string source, device;
  double power_w = 0;
  int probes = 0;  // that it was estimated from
};

// A model that is scored instead of the priors.
struct ScoredModel {
  std::string name;  // as given: a path, or a device
  MachineModel model;

  // Rows that it was fitted to.
  std::size_t fitted_to() const;
};

struct ValidationOptions {
  int probes = 0;
  std::vector<std::string> probe_modes{};  // instead of a number
  std::string cross_validate{};            // "", "model" or "device"
  std::optional<ScoredModel> on{};         // that `predictor` predicts with: see with_model()
};

struct Validation {
  static constexpr std::string_view schema = "ridgeline.validation/1";
  std::string file;
  ValidationOptions options;
  std::vector<std::string> filter;  // "device=a10-24gb"
  std::vector<ScoredRow> rows;      // in the order of the file
  std::vector<ScoredRow> probes;    // as the model predicts them after the fit
  std::vector<ScoredRow> fitted;    // rows that options.on was fitted to; not in the total
  Score fitted_total;               // of these
  std::vector<SkippedRow> skipped;
  Score total;
  ReplicateNoise noise;
  std::vector<BoardOffset> board_offsets;
  std::vector<Ranking> rankings;
  // "device" → "a10-24gb" → its score, in the order of the first row.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, Score>>>> by;
  std::vector<std::string> notes;  // caveats of these numbers
};

// A table whose times are all in a wrong unit is an Error. A row that is faster than the roofline
// allows, or that the model cannot predict, is skipped with the reason. A row that options.on was
// fitted to is recognised by its network, options, conditions and measured values, and only ranked.
Validation validate(MeasurementTable table, const Predictor& predictor,
                    const ValidationOptions& options);

// Indices of the rows with the largest errors of time, the largest first.
std::vector<std::size_t> worst_rows(const Validation& validation, std::size_t count);

Json to_json(const Validation& validation);

}  // namespace ridgeline
