// Training beside inference in one mode: the turns that they take, with the input pipeline of
// training if it is known. See interleaving.h for the scheduling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/operating_point.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "planner/concurrent/interleaving.h"
#include "planner/training/run.h"

namespace ridgeline {

struct ConcurrentRun {
  InferenceStream stream;
  // The network that is trained.
  std::string network{};  // its name in texts
  Runtime runtime = Runtime::torch_eager;
  DType dtype = DType::fp32;
  std::optional<TrainingRun> input{};  // absent: samples are in memory
};

struct TurnSizes {
  std::int64_t batch = 1;      // of inference
  std::int64_t minibatch = 1;  // of training
};

struct ConcurrentTurns : Interleaving {
  double turn_s = 0;            // of one training step, with the waits for its input
  double lost_to_input = 0;     // share of the steps for which the loaders are too slow
  double needed_latency_s = 0;  // the lowest limit that leaves time for a training step
};

// `latency_limit_s` may be infinite.
ConcurrentTurns turns_at(const ConcurrentRun& run, const TurnSizes& sizes, const BatchCost& cost,
                         const OperatingPoint& point, double latency_limit_s);

// If there is no time for a training step, the latency is the lowest limit that would leave some.
Service concurrent_service(const ConcurrentRun& run, const TurnSizes& sizes, const BatchCost& cost,
                           const OperatingPoint& point, double latency_limit_s);

}  // namespace ridgeline
