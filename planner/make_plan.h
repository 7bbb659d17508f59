// Makes a Plan: sweeps every mode, batch and type, chooses, and says why and how sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "planner/belief.h"
#include "planner/plan.h"
#include "planner/sweep.h"

namespace ridgeline {

struct PlanOptions {
  int draws = 200;  // of the parameters; 0: by the means alone
  std::uint64_t seed = 1;
  std::size_t runners_up = 3;
  std::size_t measure_next = 3;
  std::optional<std::size_t> why{};  // a mode of the problem
};

// With the sweep that it was made of, for tables and pictures of all modes.
struct PlanResult {
  Plan plan;
  Sweep sweep;
};

// `run` says who asked for what; its objective is the one that is planned for. Where no mode keeps
// the limits: an Error with ExitCode::infeasible, which names the nearest miss and the limit to
// relax. Where a goal or limit needs power and the model knows none: ExitCode::incomplete.
PlanResult make_plan(const PlanProblem& problem, PlannedRun run, const PlanOptions& options = {});

}  // namespace ridgeline
