// A plan for people: the answer first, then what it saves, what limits it, what else was near; and
// as CSV. Training plans add epochs and their input, or turns beside inference.
#pragma once

#include <string>

#include "planner/plan.h"
#include "planner/planner.h"

namespace ridgeline {

// `explain` adds what a step of each knob would do.
std::string plan_text(const Plan& plan, bool explain, int width);

// Every mode, batch and type, one line each.
std::string plan_csv(const PlanProblem& problem, const PlanResult& result);

}  // namespace ridgeline
