// A training step cannot be interrupted, so its turn lasts for the whole step and its input.
#include "planner/concurrent/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ridgeline {
namespace {

// The cost of the training step alone, for its input pipeline.
BatchCost training_cost(const BatchCost& cost) {
  BatchCost training = cost;
  training.time_s = cost.training_s;
  training.power_w = cost.training_w;
  training.host_s = cost.training_host_s;
  return training;
}

}  // namespace

ConcurrentTurns turns_at(const ConcurrentRun& run, const TurnSizes& sizes, const BatchCost& cost,
                         const OperatingPoint& point, double latency_limit_s) {
  Turns turns;
  turns.batch = static_cast<int>(sizes.batch);
  turns.inference_s = cost.time_s;
  turns.inference_w = cost.power_w;
  turns.idle_w = cost.idle_w;
  turns.training_s = cost.training_s;
  turns.training_w = cost.training_w;
  double loading_s = 0, decode_s = 0, loaders = 0;
  if (run.input) {
    const double minibatch = static_cast<double>(sizes.minibatch);
    const InputPipeline pipeline = pipeline_at(*run.input, training_cost(cost), point);
    const LoadedMinibatch step =
        loaded_minibatch(run.input->dataset, minibatch, cost.training_s, pipeline, false);
    const bool alone = pipeline.workers <= 0;  // it loads within its turn
    const double waiting_s = alone ? step.waiting_s : 0;
    loading_s = alone ? 0 : step.loading_s;
    decode_s = pipeline.core_hz > 0 ? minibatch * pipeline.decode_clocks / pipeline.core_hz : 0;
    turns.training_s = step.device_s + step.residual_s + waiting_s;
    turns.training_w = (step.device_s * cost.training_w + waiting_s * cost.idle_w +
                        step.residual_s * (cost.idle_w + cost.core_w)) /
                       turns.training_s;
    loaders = std::clamp<double>(pipeline.workers, 0, pipeline.cores - 1);
  }
  ConcurrentTurns result{interleave(run.stream, turns, latency_limit_s)};
  result.turn_s = turns.training_s;
  const double window_s = static_cast<double>(sizes.batch) / run.stream.requests_per_s;
  const double missing_s = turns.training_s + turns.inference_s - window_s - run.stream.jitter_s;
  const double filling_s = static_cast<double>(sizes.batch - 1) / run.stream.requests_per_s;
  result.needed_latency_s = filling_s + 2 * run.stream.jitter_s + turns.inference_s +
                            turns.switch_s + std::max(0.0, missing_s);
  if (result.trainings_per_s * loading_s > 1) {
    const double possible_per_s = 1 / loading_s;
    const double lost_share = (result.trainings_per_s - possible_per_s) * turns.training_s;
    result.lost_to_input = 1 - possible_per_s / result.trainings_per_s;
    result.trainings_per_s = possible_per_s;
    result.idle_share += lost_share;
    result.mean_w -= lost_share * (turns.training_w - turns.idle_w);
  }
  result.mean_w += result.trainings_per_s * decode_s * cost.core_w;
  result.peak_w = std::max(cost.power_w, cost.training_w) + loaders * cost.core_w;
  return result;
}

Service concurrent_service(const ConcurrentRun& run, const TurnSizes& sizes, const BatchCost& cost,
                           const OperatingPoint& point, double latency_limit_s) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const ConcurrentTurns turns = turns_at(run, sizes, cost, point, latency_limit_s);
  const bool keeps_up =
      cost.time_s * run.stream.requests_per_s <= static_cast<double>(sizes.batch);  // NaN: no
  const bool trains = turns.feasible && turns.trainings_per_s > 0;
  Service service;
  service.time_s = trains ? 1 / turns.trainings_per_s : never;
  service.sample_s = service.time_s / static_cast<double>(sizes.minibatch);
  service.goal_s = service.delay_s = service.sample_s;
  service.latency_s = !keeps_up ? never : (trains ? turns.latency_s : turns.needed_latency_s);
  service.mean_power_w = turns.mean_w;
  service.peak_power_w = turns.peak_w;
  service.energy_j = turns.mean_w * service.sample_s;
  return service;
}

}  // namespace ridgeline
