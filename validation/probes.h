// Which measured rows a prediction may look at, and which it is then scored on.
// Probes are chosen by what is predicted without them, never by what was measured.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validation/groups.h"
#include "validation/validation.h"

namespace ridgeline {

// The model is fitted to `probes` and scored on `scored`; indices of rows.
struct ProbeTrial {
  Indices probes;
  Indices scored;
};

struct ProbePlan {
  std::vector<ProbeTrial> trials;
  std::vector<SkippedRow> skipped;  // rows of groups that are too small
};

// Without probes every group is a trial. With k of them: the fastest and the slowest mode of a
// group and others evenly between them (one: the fastest); a net with one mode only is probed at
// batches, the smallest and the largest first. `times` are predicted, one per row.
ProbePlan plan_probes(std::span<const Observation> rows, std::span<const std::string> modes,
                      std::span<const double> times, const ValidationOptions& options);

// k of n places in order: the first, the last, then evenly between them; one of them is the first.
std::vector<std::size_t> spread(std::size_t k, std::size_t n);

}  // namespace ridgeline
