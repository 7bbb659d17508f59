// The part of a Plan on a training run in the chosen mode: its epochs, what limits them, and the
// fewest workers and lowest core clock that would do.
#pragma once

#include <optional>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/prediction.h"
#include "planner/sweep_draws.h"
#include "planner/training/run.h"

namespace ridgeline {

struct PlannedTraining {
  TrainingRun run;
  double minibatch = 1;
  int cores = 1;
  double core_hz = 0;
  double residual_s = 0;  // of each minibatch: queue and copy
  TrainedEpoch first, later;
  TrainingBound bound = TrainingBound::device;  // of a later epoch
  std::optional<int> fewest_workers;            // absent: no number is enough
  std::optional<double> lowest_core_hz;         // absent: fetching alone is too slow
  Estimate epoch_s;                             // mean over the run
  std::optional<Estimate> epoch_j, mean_power_w;
  std::optional<Estimate> run_s, run_j;  // if the number of epochs is known
};

// `step_bound`: of a training step without input, which the host may limit.
PlannedTraining planned_training(const PlanProblem& problem, const Sweep& sweep, SweepDraws& draws,
                                 std::size_t row, BoundBy step_bound);

Json to_json(const PlannedTraining& training);

}  // namespace ridgeline
