// Makes a Plan: sweeps every mode, batch and type, chooses, and gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "planner/goal.h"
#include "planner/plan.h"
#include "planner/problem.h"
#include "planner/sweep.h"
#include "roofline/model/draws.h"

namespace ridgeline {

struct PlanOptions {
  int draws = 200;  // of the parameters; 0: plan at the means alone
  std::uint64_t seed = 1;
  std::size_t runners_up = 3;
  std::size_t measure_next = 3;
  bool lead_with_stock = false;      // choose a stock mode if one keeps the limits
  std::optional<std::size_t> why{};  // explain why this candidate mode was not chosen
};

// One row of a sweep, with the intervals that the draws give.
PlannedMode planned_mode(const PlanProblem& problem, const Sweep& sweep,
                         std::span<const CoefficientDraw> draws, const Objective& objective,
                         std::size_t row, double probability);

// With the sweep behind it, for tables and figures of all modes.
struct PlanResult {
  Plan plan;
  Sweep sweep;
};

// If no mode keeps the limits: an Error with ExitCode::infeasible that names the nearest miss and
// the limit to relax. If a goal or limit needs power and the model has none: ExitCode::incomplete.
PlanResult make_plan(const PlanProblem& problem, const Objective& objective,
                     const PlanOptions& options = {});

}  // namespace ridgeline
