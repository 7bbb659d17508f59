// One step of one knob away from the chosen mode: what it would cost or save, and whether the
// limits would still hold. It shows that every knob stands where it should.
#pragma once

#include <vector>

#include "planner/choice.h"

namespace ridgeline {

struct OneStep {
  std::size_t row = 0;
  std::string knob;  // "gpu", "emc", "cpu", "cores", "sm"
  bool up = false;
};

// The next row up and down each knob, all others equal; where there is one.
std::vector<OneStep> one_step_away(const PlanProblem& problem, const Sweep& sweep, std::size_t row);

}  // namespace ridgeline
