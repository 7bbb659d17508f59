// A training run in one mode: first and later epochs with their energy, and the Service for goals
// and limits. See pipeline.h for the input pipeline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/operating_point.h"
#include "planner/service.h"
#include "planner/training/pipeline.h"

namespace ridgeline {

// Where the facts of an input pipeline come from, for texts.
struct InputSources {
  std::string dataset;    // "--dataset 50000x150kB"
  StorageMedium storage;  // with its own origin
  std::string decode;
  std::string memory;
  std::vector<std::string> assumed;  // facts that were not given, one sentence each
};

struct TrainingRun {
  Dataset dataset;
  InputPipeline pipeline;        // its cores and core clock are set for each mode
  std::optional<double> epochs;  // absent: the first epoch is ignored
  InputSources sources{};
};

// The pipeline with the cores and core clock of a mode.
InputPipeline pipeline_at(const TrainingRun& run, const BatchCost& cost,
                          const OperatingPoint& point);

struct TrainedEpoch : Epoch {
  double energy_j = 0;  // NaN: no power is known
};

// Energy of the device at work, of the device idle in the same mode while it waits, and of the
// cores that decode and collate.
TrainedEpoch trained_epoch(const TrainingRun& run, double minibatch, const BatchCost& cost,
                           const OperatingPoint& point, bool first);

// Of the mean epoch, with the share of the first if the number of epochs is known.
Service training_service(const TrainingRun& run, double minibatch, const BatchCost& cost,
                         const OperatingPoint& point);

}  // namespace ridgeline
