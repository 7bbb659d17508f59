// Training beside inference in one mode: the turns that they take, with the input pipeline of
// training where it is known. How turns are made is interleaving.h's.
#pragma once

#include <cstdint>
#include <optional>

#include "base/operating_point.h"
#include "planner/concurrent/interleaving.h"
#include "planner/training/run.h"

namespace ridgeline {

struct ConcurrentRun {
  InferenceStream stream;
  std::optional<TrainingRun> input{};  // absent: samples are taken to be at hand
};

struct TurnSizes {
  std::int64_t batch = 1;      // of inference
  std::int64_t minibatch = 1;  // of training
};

struct ConcurrentTurns : Interleaving {
  double turn_s = 0;            // of one training step, with what the input adds to it
  double lost_to_input = 0;     // share of the steps for which loaders are too slow
  double needed_latency_s = 0;  // with which any step of training finds time
};

// `latency_limit_s` infinite: as if no request were in a hurry.
ConcurrentTurns turns_at(const ConcurrentRun& run, const TurnSizes& sizes, const RunCost& cost,
                         const OperatingPoint& point, double latency_limit_s);

// Where no training step finds time, the latency is the one that it would take.
Service concurrent_service(const ConcurrentRun& run, const TurnSizes& sizes, const RunCost& cost,
                           const OperatingPoint& point, double latency_limit_s);

}  // namespace ridgeline
