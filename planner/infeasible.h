// When no row keeps the limits: the nearest miss, and how far each limit alone would have to be
// relaxed.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "planner/choice.h"

namespace ridgeline {

// A limit that, relaxed alone, would leave a mode.
struct Relaxation {
  Limit limit;
  double bound = 0;  // that a row keeps with the required probability
};

struct Infeasibility {
  std::vector<Relaxation> together;  // if no single limit is enough: what the nearest row needs
  std::size_t nearest = 0;           // the row whose worst miss is smallest
  Limit missed;                      // the limit of that miss
  double value = 0;                  // at the required probability; without draws at the means
  std::vector<Relaxation> relaxed;   // the smallest change first; empty: no single limit is enough
};

Infeasibility infeasibility(Chooser& chooser, const Objective& objective);

// The same as an Error with ExitCode::infeasible.
Error infeasible_error(Chooser& chooser, const Objective& objective);

}  // namespace ridgeline
