// What to say when no row keeps the limits: the nearest miss, and by how much each limit alone
// would have to be relaxed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/choice.h"

namespace ridgeline {

// A limit that, relaxed alone, would leave a mode.
struct Relaxation {
  Limit limit;
  double bound = 0;  // that a row keeps with the probability asked for
  std::size_t row = 0;
};

struct Infeasibility {
  std::size_t nearest = 0;          // the row whose worst miss is smallest
  Limit missed;                     // by which
  double value = 0;                 // the quantile that counts, or the value without draws
  std::vector<Relaxation> relaxed;  // the smallest change first; empty: no single limit is enough
};

Infeasibility infeasibility(Chooser& chooser, const Objective& objective);

// One line: what is missed by how much, and what to relax.
std::string to_text(const Infeasibility& infeasibility, const PlanProblem& problem,
                    const Sweep& sweep);

}  // namespace ridgeline
