// TrainingSummary: the work of each pass of a training step and its memory, which `analyze --train`
// adds to an Analysis.
#pragma once

#include <map>

#include "analyzer/count/op_weights.h"
#include "analyzer/training/training.h"
#include "base/json_fwd.h"
#include "base/work.h"

namespace ridgeline {

struct TrainingSummary {
  TrainingOptions options;
  std::map<Pass, Work> passes;  // all passes, including those without work
  RunMemory memory;
};

TrainingSummary summarize(const Training& training, const TrainingOptions& options,
                          const OpWeights& weights);

Json to_json(const TrainingSummary& summary);

}  // namespace ridgeline
