// Epochs at the means. Intervals come from the draws of the step and the spread of the storage
// medium; the other facts of the input pipeline are taken as given.
#include "planner/training/planned_training.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace ridgeline {
namespace {

// More loaders than anyone runs on one machine.
constexpr int most_workers = 64;

Json to_json(const TrainedEpoch& epoch, int cores) {
  return {{"time_s", epoch.time_s},
          {"energy_j", std::isfinite(epoch.energy_j) ? Json(epoch.energy_j) : Json()},
          {"device_s", epoch.device_s},
          {"stall_s", epoch.stall_s},
          {"wait_s", epoch.wait_s},
          {"unhidden_s", epoch.unhidden_s},
          {"device_share", epoch.device_s / epoch.time_s},
          {"core_share", std::min(1.0, epoch.host_s / (cores * epoch.time_s))},
          {"read_bytes_per_s", epoch.read_bytes / epoch.time_s},
          {"fetch_s", epoch.fetch_s},
          {"decode_s", epoch.decode_s},
          {"hit_share", epoch.hit_share},
          {"bound", to_string(epoch.bound)}};
}

}  // namespace

PlannedTraining planned_training(const PlanProblem& problem, const Sweep& sweep, SweepDraws& draws,
                                 std::size_t row, BoundBy step_bound) {
  PlannedTraining result;
  const BatchCost& cost = sweep.costs[row];
  const OperatingPoint& point = mode_at(problem, sweep, row).point;
  result.run = problem.training;
  result.minibatch = static_cast<double>(variant_at(problem, sweep, row).batch);
  const InputPipeline pipeline = pipeline_at(result.run, cost, point);
  result.cores = pipeline.cores;
  result.core_hz = pipeline.core_hz;
  result.residual_s = residual_s(pipeline, result.minibatch);
  result.first = trained_epoch(result.run, result.minibatch, cost, point, true);
  result.later = trained_epoch(result.run, result.minibatch, cost, point, false);
  result.bound = result.later.bound;
  if (result.bound == TrainingBound::device && step_bound == BoundBy::host)
    result.bound = TrainingBound::host;
  result.fewest_workers = fewest_workers(result.run.dataset, result.minibatch, cost.time_s,
                                         pipeline, false, most_workers);
  result.lowest_core_hz =
      lowest_core_hz(result.run.dataset, result.minibatch, cost.time_s, pipeline, false);

  const auto epochs = result.run.epochs;
  result.epoch_s = draws.estimate(row, {}, [](const Service& s) { return s.time_s; });
  if (epochs) result.run_s = draws.estimate(row, {}, [](const Service& s) { return s.run_s; });
  if (!std::isfinite(service_at(problem, sweep, row, {}).energy_j)) return result;
  result.epoch_j = draws.estimate(row, {}, [](const Service& s) { return s.energy_j; });
  result.mean_power_w = draws.estimate(row, {}, [](const Service& s) { return s.mean_power_w; });
  if (epochs)
    result.run_j = draws.estimate(row, {}, [&](const Service& s) { return *epochs * s.energy_j; });
  return result;
}

Json to_json(const PlannedTraining& training) {
  const TrainingRun& run = training.run;
  const StorageMedium& storage = run.sources.storage;
  return {
      {"dataset",
       {{"samples", run.dataset.samples},
        {"bytes_per_sample", run.dataset.bytes_per_sample},
        {"in_memory", run.dataset.in_memory},
        {"origin", run.sources.dataset}}},
      {"storage",
       {{"name", storage.name},
        {"bytes_per_s", storage.cost.bytes_per_s},
        {"access_s", storage.cost.access_s},
        {"serial_share", storage.cost.serial_share},
        {"spread", storage.spread},
        {"source", to_string(storage.source)},
        {"origin", storage.origin}}},
      {"decode", {{"clocks", run.pipeline.decode_clocks}, {"origin", run.sources.decode}}},
      {"page_cache", {{"bytes", run.pipeline.free_memory_bytes}, {"origin", run.sources.memory}}},
      {"residual_s", training.residual_s},
      {"device_slowdown", run.pipeline.workers > 0 ? run.pipeline.device_slowdown : 1.0},
      {"workers", run.pipeline.workers},
      {"cores", training.cores},
      {"core_hz", training.core_hz},
      {"minibatch", training.minibatch},
      {"steps_per_epoch", std::ceil(run.dataset.samples / training.minibatch)},
      {"epochs", nullable(run.epochs)},
      {"first", to_json(training.first, training.cores)},
      {"later", to_json(training.later, training.cores)},
      {"epoch_time_s", ridgeline::to_json(training.epoch_s)},
      {"epoch_energy_j", nullable(training.epoch_j)},
      {"mean_power_w", nullable(training.mean_power_w)},
      {"training_time_s", nullable(training.run_s)},
      {"training_energy_j", nullable(training.run_j)},
      {"bound", to_string(training.bound)},
      {"fewest_workers", training.fewest_workers ? Json(*training.fewest_workers) : Json()},
      {"lowest_core_hz", nullable(training.lowest_core_hz)},
      {"assumed", run.sources.assumed}};
}

}  // namespace ridgeline
