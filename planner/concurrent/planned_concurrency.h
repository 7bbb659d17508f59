// The part of a Plan on training beside inference in the chosen mode: the training step, how often
// it gets a turn, and how much of the device is idle.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/prediction.h"
#include "planner/concurrent/run.h"
#include "planner/sweep_draws.h"
#include "roofline/model/draws.h"

namespace ridgeline {

struct PlannedConcurrency {
  ConcurrentRun run;
  std::int64_t minibatch = 1;
  Estimate step_s;  // of training, without inference
  std::optional<Estimate> step_w, step_j;
  BoundBy step_bound = BoundBy::memory;
  ConcurrentTurns turns;  // at the means
  double training_share = 0, inference_share = 0;
  Estimate samples_per_s;  // trained
  Estimate latency_s;
  std::optional<Estimate> mean_power_w;
};

// `trained_draws`: for the runtime that trains.
PlannedConcurrency planned_concurrency(const PlanProblem& problem, const Sweep& sweep,
                                       SweepDraws& draws,
                                       std::span<const CoefficientDraw> trained_draws,
                                       std::size_t row, const Objective& objective);

Json to_json(const PlannedConcurrency& concurrency);

}  // namespace ridgeline
