// The Pareto front of a sweep: rows that no other row beats in delay, energy and mean power at once
// (delay: latency of inference, time of an epoch, time per sample trained beside inference). Of the
// means; whether limits hold there is not asked.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/belief.h"

namespace ridgeline {

// Rows of allowed modes by delay, the fastest first. Without power it is the fastest row alone.
std::vector<std::size_t> pareto_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective);

// The part of a front that needs no power: better in delay or energy than all others.
std::vector<std::size_t> energy_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective);

}  // namespace ridgeline
