// TrainingSummary: one training step in numbers: the work of each pass, and the memory it holds.
// What `analyze --train` adds to an Analysis.
#pragma once

#include <map>

#include "analyzer/count/op_weights.h"
#include "analyzer/training/training.h"
#include "base/json_fwd.h"
#include "base/work.h"

namespace ridgeline {

struct TrainingSummary {
  TrainingOptions options;
  std::map<Pass, Work> passes;  // every pass, also those without work
  TrainingMemory memory;
};

TrainingSummary summarize(const Training& training, const TrainingOptions& options,
                          const OpWeights& weights);

Json to_json(const TrainingSummary& summary);

}  // namespace ridgeline
