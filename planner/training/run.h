// A training run in one mode: first and later epochs with their energy, and what an objective looks
// at. The pipeline itself is planner/training/pipeline.h's; what a step costs is the model's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/operating_point.h"
#include "planner/periodic.h"
#include "planner/training/pipeline.h"

namespace ridgeline {

// Where the facts of an input pipeline come from, for people.
struct InputSources {
  std::string dataset;    // "--dataset 50000x150kB"
  StorageMedium storage;  // with its own origin
  std::string decode;
  std::string memory;
  std::vector<std::string> assumed;  // facts that nobody gave, one sentence each
};

struct TrainingRun {
  Dataset dataset;
  InputPipeline pipeline;        // cores and their clock are the mode's
  std::optional<double> epochs;  // absent: only a later epoch counts
  InputSources sources{};
};

// In one mode: what it gives the loaders.
InputPipeline pipeline_at(const TrainingRun& run, const RunCost& cost, const OperatingPoint& point);

struct TrainedEpoch : Epoch {
  double energy_j = 0;  // NaN: no power is known
};

// The device at work, idle in the same mode while it waits, and cores that decode and collate.
TrainedEpoch trained_epoch(const TrainingRun& run, double minibatch, const RunCost& cost,
                           const OperatingPoint& point, bool first);

// Of the mean epoch: the first one's share counts where the number of epochs is known.
Service training_service(const TrainingRun& run, double minibatch, const RunCost& cost,
                         const OperatingPoint& point);

}  // namespace ridgeline
