// What a plan for training says beside the rest: epochs and their input, or turns beside inference.
#pragma once

#include <string>

#include "base/estimate.h"
#include "planner/plan.h"

namespace ridgeline {

// Both are empty where the plan has no such part.
std::string training_text(const Plan& plan, int width);
std::string concurrent_text(const Plan& plan, int width);

// "1.2 s to 1.5 s" of an Estimate's ends as they are written.
std::string interval_text(const Estimate& estimate, const std::string& low,
                          const std::string& high);

}  // namespace ridgeline
