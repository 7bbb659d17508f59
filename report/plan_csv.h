// Every mode, batch and type of a plan as a table, one line each.
#pragma once

#include <string>

#include "planner/planner.h"

namespace ridgeline {

std::string plan_csv(const PlanProblem& problem, const PlanResult& result);

}  // namespace ridgeline
