// The training step comes from predict(), as that of an explanation does.
#include "planner/concurrent/planned_concurrency.h"

#include <cmath>

#include "base/json.h"
#include "roofline/model/predict.h"

namespace ridgeline {

PlannedConcurrency planned_concurrency(const PlanProblem& problem, const Sweep& sweep,
                                       SweepDraws& draws,
                                       std::span<const CoefficientDraw> trained_draws,
                                       std::size_t row, const Objective& objective) {
  PlannedConcurrency result;
  result.run = problem.concurrent;
  Conditions conditions = problem.conditions;
  conditions.runtime = problem.concurrent.runtime;
  conditions.point = mode_at(problem, sweep, row).point;
  const PlanVariant& variant = variant_at(problem, sweep, row);
  const Prediction step =
      predict(problem.model, *variant.trained, conditions, trained_draws, RowDetail::values);
  result.minibatch = variant.minibatch;
  result.step_s = step.time_s;
  result.step_w = step.power_w;
  result.step_j = step.energy_j;
  result.step_bound = step.bound;

  const BatchCost& cost = sweep.costs[row];
  result.turns = turns_at(problem.concurrent, {variant.batch, variant.minibatch}, cost,
                          conditions.point, latency_limit_s(objective));
  result.training_share = result.turns.trainings_per_s * result.turns.turn_s;
  result.inference_share =
      cost.time_s * result.run.stream.requests_per_s / static_cast<double>(variant.batch);
  result.samples_per_s =
      draws.estimate(row, objective, [](const Service& s) { return 1 / s.sample_s; });
  result.latency_s = draws.estimate(row, objective, [](const Service& s) { return s.latency_s; });
  const Estimate mean_power_w =
      draws.estimate(row, objective, [](const Service& s) { return s.mean_power_w; });
  if (std::isfinite(mean_power_w.value)) result.mean_power_w = mean_power_w;
  return result;
}

Json to_json(const PlannedConcurrency& concurrency) {
  const ConcurrentTurns& turns = concurrency.turns;
  Json input;
  if (concurrency.run.input) {
    const TrainingRun& run = *concurrency.run.input;
    input = {{"dataset", run.sources.dataset},
             {"storage", run.sources.storage.origin},
             {"decode", run.sources.decode},
             {"workers", run.pipeline.workers},
             {"assumed", run.sources.assumed}};
  }
  return {{"training",
           {{"network", concurrency.run.network},
            {"runtime", to_string(concurrency.run.runtime)},
            {"minibatch", concurrency.minibatch},
            {"dtype", to_string(concurrency.run.dtype)},
            {"time_s", ridgeline::to_json(concurrency.step_s)},
            {"power_w", nullable(concurrency.step_w)},
            {"energy_j", nullable(concurrency.step_j)},
            {"bound", to_string(concurrency.step_bound)}}},
          {"requests_per_s", concurrency.run.stream.requests_per_s},
          {"jitter_s", concurrency.run.stream.jitter_s},
          {"trained_samples_per_s", ridgeline::to_json(concurrency.samples_per_s)},
          {"steps_per_s", turns.trainings_per_s},
          {"latency_s", ridgeline::to_json(concurrency.latency_s)},
          {"slack_s", turns.slack_s},
          {"inference_share", concurrency.inference_share},
          {"training_share", concurrency.training_share},
          {"idle_share", turns.idle_share},
          {"lost_to_input", turns.lost_to_input},
          {"mean_power_w", nullable(concurrency.mean_power_w)},
          {"peak_power_w", std::isfinite(turns.peak_w) ? Json(turns.peak_w) : Json()},
          {"input", input}};
}

}  // namespace ridgeline
