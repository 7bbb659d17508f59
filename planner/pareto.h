// The Pareto front of a sweep: rows that no other row beats in delay, energy and mean power at once
// (delay: latency of inference, time of an epoch, time per sample trained beside inference). At the
// means, and whether or not the limits hold.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/sweep.h"

namespace ridgeline {

// Rows of eligible modes by delay, the fastest first. Without power it is the fastest row alone.
std::vector<std::size_t> pareto_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective);

// The front of one variant (batch and type) by itself.
std::vector<std::size_t> variant_front(const PlanProblem& problem, const Sweep& sweep,
                                       const Objective& objective, std::size_t variant);

// The front in delay and energy alone.
std::vector<std::size_t> energy_front(const PlanProblem& problem, const Sweep& sweep,
                                      const Objective& objective);

}  // namespace ridgeline
