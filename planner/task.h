// What a row of a sweep is worth to whoever asked: batches of inference, epochs of training, or
// training beside inference. The only place that tells the three apart.
#pragma once

#include <cstddef>
#include <string_view>

#include "planner/sweep.h"

namespace ridgeline {

Service service_of(const PlanProblem& problem, std::size_t variant, std::size_t mode,
                   const RunCost& cost, const Objective& objective);

// The bound of the latency limit; infinite without one.
double latency_limit(const Objective& objective);

// The time that a slowdown compares with the fastest mode's: of a batch, a mean epoch or a training
// step.
double pace_s(const PlanProblem& problem, std::size_t variant, std::size_t mode,
              const RunCost& cost);

// "energy per sample", "energy per epoch", "time per trained sample".
std::string_view goal_text(const PlanProblem& problem, Goal goal);

}  // namespace ridgeline
