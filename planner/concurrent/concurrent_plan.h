// What a plan says of training beside inference in the chosen mode: the training step, how often it
// finds its turn, and what is left. How the mode is chosen is choice.h's.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/prediction.h"
#include "planner/belief.h"
#include "planner/concurrent/run.h"
#include "roofline/model/coefficient_draws.h"

namespace ridgeline {

struct PlannedConcurrency {
  std::string network;  // that is trained
  Runtime runtime = Runtime::torch_eager;
  DType dtype = DType::fp32;
  ConcurrentRun run;
  std::int64_t minibatch = 1;
  Estimate step_s;  // of training, by itself
  std::optional<Estimate> step_w, step_j;
  BoundBy step_bound = BoundBy::memory;
  ConcurrentTurns turns;  // at the means
  double training_share = 0, inference_share = 0;
  Estimate samples_per_s;  // that are trained
  Estimate latency_s;
  std::optional<Estimate> mean_power_w;
};

// `draws`: of the runtime that trains.
PlannedConcurrency planned_concurrency(const PlanProblem& problem, const Sweep& sweep,
                                       Belief& belief, std::span<const CoefficientDraw> draws,
                                       std::size_t row, const Objective& objective);

Json to_json(const PlannedConcurrency& concurrency);

}  // namespace ridgeline
