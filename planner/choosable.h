// ChoosableRow: a row of a sweep that some limits of latency and mean power make the choice, with
// the tightest limits that it keeps with the required probability. So that a reader of a plan can
// move the limits and choose anew without the model; see choice.h for how a plan chooses.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/sweep.h"
#include "planner/sweep_draws.h"

namespace ridgeline {

struct KeptLimits {
  double latency_s = 0;
  double power_w = 0;  // on average
};

struct ChoosableRow {
  std::size_t row = 0;
  Service service;               // at the means
  std::vector<KeptLimits> kept;  // by latency; power falls. Empty if another limit breaks
};

// The front of each variant in latency, energy and mean power, and the eligible stock modes, in the
// order in which a tie is decided: lower clocks first. Limits of latency and mean power in the
// objective are ignored, all others hold.
std::vector<ChoosableRow> choosable_rows(const PlanProblem& problem, const Sweep& sweep,
                                         SweepDraws& draws, Objective objective);

}  // namespace ridgeline
