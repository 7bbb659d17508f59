// What a plan says of a training run in the chosen mode: its epochs, what sets their pace, and how
// few workers and how low a core clock would do. How the mode is chosen is choice.h's.
#pragma once

#include <optional>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/prediction.h"
#include "planner/belief.h"
#include "planner/training/run.h"

namespace ridgeline {

struct PlannedTraining {
  TrainingRun run;
  double minibatch = 1;
  int cores = 1;
  double core_hz = 0;
  TrainedEpoch first, later;
  TrainingBound bound = TrainingBound::device;  // of a later epoch
  std::optional<int> fewest_workers;            // absent: no number of them is enough
  std::optional<double> lowest_core_hz;         // absent: fetching alone is too slow
  Estimate epoch_s;                             // on average over the run
  std::optional<Estimate> epoch_j, mean_power_w;
  std::optional<Estimate> run_s, run_j;  // where the number of epochs is known
};

// `step`: what bounds a training step by itself; the host may hold it up without any input.
PlannedTraining planned_training(const PlanProblem& problem, const Sweep& sweep, Belief& belief,
                                 std::size_t row, BoundBy step);

Json to_json(const PlannedTraining& training);

}  // namespace ridgeline
