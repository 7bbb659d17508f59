// Plan → Figure: energy against latency of every mode (against the time of an epoch; beside
// inference, trained samples against power), the front, where limits forbid, the stock modes and
// the choice. No drawing: that is done in
// plots/renderers.
#pragma once

#include "planner/planner.h"
#include "plots/figure.h"

namespace ridgeline {

// Needs power: an Error where the model knows none.
Figure plan_figure(const PlanProblem& problem, const PlanResult& result);

}  // namespace ridgeline
