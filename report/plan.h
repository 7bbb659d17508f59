// A plan for people: the answer first, then what it saves, what limits it, what else was near.
#pragma once

#include <string>

#include "planner/plan.h"

namespace ridgeline {

// `explain` adds what a step of each knob would do.
std::string plan_text(const Plan& plan, bool explain, int width);

}  // namespace ridgeline
