// Training beside inference: the chosen mode against an event-by-event simulation of every machine
// in the range of the parameters.
#include "planner/concurrent/planned_concurrency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyzer/training/training.h"
#include "base/error.h"
#include "planner/problem.h"
#include "tests/planner/planned.h"
#include "tests/planner/simulated_turns.h"

namespace ridgeline::testing {
namespace {

constexpr double limit_s = 0.08;

struct Both {
  Planned planned{"jetson-orin-nano-8gb", "mobilenet_v2", Runtime::tensorrt, {1, 2}, "",
                  with_four_cores()};

  static CandidateOptions with_four_cores() {
    CandidateOptions candidates;
    candidates.filter = parse_mode_filter("cores=4");
    return candidates;
  }

  Both() {
    PlanProblem& problem = planned.problem;
    problem.scenario = Scenario::concurrent;
    problem.concurrent.stream = {30, 2e-3};
    const std::vector<PlanVariant> inference = problem.variants;
    problem.variants.clear();
    for (const std::int64_t minibatch : {4, 8}) {
      WorkloadOptions options;
      options.batch = minibatch;
      const Training training = train(build_workload("resnet18", options), {});
      const auto load = std::make_shared<const NetworkLoad>(
          network_load(lower(training.graph, Runtime::torch_eager), Runtime::torch_eager));
      for (PlanVariant variant : inference) {
        variant.trained = load;
        variant.minibatch = minibatch;
        problem.variants.push_back(variant);
      }
    }
  }
};

const Both& both() {
  static const Both made;
  return made;
}

Objective within(double latency_s, double power_w) {
  return least(Goal::time, {{LimitKind::latency, latency_s, 0, "--latency"},
                            {LimitKind::power, power_w, 0, "--power"}});
}

std::size_t chosen_row(const PlanResult& result) {
  const PlanProblem& problem = both().planned.problem;
  for (std::size_t row = 0; row < result.sweep.costs.size(); ++row) {
    const PlanVariant& variant = problem.variants[result.sweep.variant_of(row)];
    if (problem.candidates.modes[result.sweep.mode_of(row)].point == result.plan.chosen.point &&
        variant.batch == result.plan.chosen.batch &&
        variant.minibatch == result.plan.concurrent->minibatch)
      return row;
  }
  return 0;
}

Turns turns_of(const BatchCost& cost, std::int64_t batch) {
  Turns turns;
  turns.batch = static_cast<int>(batch);
  turns.inference_s = cost.time_s;
  turns.training_s = cost.training_s;
  return turns;
}

TEST(PlannedConcurrency, LatencyIsKeptWithTheProbabilityThatIsPromised) {
  const PlanProblem& problem = both().planned.problem;
  const PlanResult result = both().planned.plan(within(limit_s, 15));
  const PlannedMode& chosen = result.plan.chosen;
  ASSERT_TRUE(result.plan.concurrent);
  EXPECT_GE(chosen.probability, 0.9);
  EXPECT_LE(result.plan.concurrent->mean_power_w->value, 15);
  EXPECT_GT(result.plan.concurrent->samples_per_s.value, 1);

  const auto draws = coefficient_draws(both().planned.problem.model, Runtime::tensorrt, 200, 1);
  const auto trained =
      coefficient_draws(both().planned.problem.model, Runtime::torch_eager, 200, 1);
  SweepDraws sweep_draws(problem, result.sweep, draws, trained);
  const InferenceStream& stream = problem.concurrent.stream;
  int kept = 0;
  double trainings_per_s = 0;
  for (const BatchCost& cost : sweep_draws.costs(chosen_row(result))) {
    const Turns turns = turns_of(cost, chosen.batch);
    const Interleaving planned = interleave(stream, turns, limit_s);
    const Simulated seen = simulate(stream, turns, planned.slack_s + stream.jitter_s, 5, 500);
    kept += planned.feasible && planned.trainings_per_s > 0 && seen.latency_s <= limit_s + 1e-9;
    trainings_per_s += seen.trainings_per_s / 200;
  }
  EXPECT_GE(kept, 180);
  EXPECT_NEAR(trainings_per_s * static_cast<double>(result.plan.concurrent->minibatch) /
                  result.plan.concurrent->samples_per_s.value,
              1, 0.25);
}

// At the means, simulates every mode and size: none that keeps the limits trains 2 % more.
TEST(PlannedConcurrency, NoOtherModeTrainsMore) {
  const PlanProblem& problem = both().planned.problem;
  PlanOptions without_draws;
  without_draws.draws = 0;
  const Objective objective = within(limit_s, 12);
  const PlanResult result = both().planned.plan(objective, without_draws);
  const InferenceStream& stream = problem.concurrent.stream;
  double best = 0;
  for (std::size_t row = 0; row < result.sweep.costs.size(); row += 5) {
    const PlanVariant& variant = problem.variants[result.sweep.variant_of(row)];
    const Service service = service_at(problem, result.sweep, row, objective);
    if (!problem.candidates.modes[result.sweep.mode_of(row)].allowed) continue;
    if (!(service.mean_power_w <= 12) || !(service.latency_s <= limit_s)) continue;
    const Turns turns = turns_of(result.sweep.costs[row], variant.batch);
    const Simulated seen = simulate(
        stream, turns, interleave(stream, turns, limit_s).slack_s + stream.jitter_s, 5, 400);
    if (seen.latency_s <= limit_s + 1e-9)
      best = std::max(best, seen.trainings_per_s * static_cast<double>(variant.minibatch));
  }
  EXPECT_GT(best, 0);
  EXPECT_GE(result.plan.concurrent->samples_per_s.value, 0.98 * best);
}

TEST(PlannedConcurrency, MoreLatencyOrPowerNeverTrainsLess) {
  PlanOptions without_draws;
  without_draws.draws = 0;
  double last = 0;
  for (const double power_w : {9.0, 11.0, 14.0, 20.0}) {
    const Plan plan = both().planned.plan(within(limit_s, power_w), without_draws).plan;
    EXPECT_GE(plan.concurrent->samples_per_s.value, last * (1 - 2e-6));
    last = plan.concurrent->samples_per_s.value;
  }
}

TEST(PlannedConcurrency, WithoutTimeForAStepTheLatencyIsToBeRelaxed) {
  try {
    both().planned.plan(within(0.02, 8));
    FAIL() << "no step of training fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
  }
  // Training time that the loaders cannot feed is lost and spent idle.
  ConcurrentRun run = both().planned.problem.concurrent;
  BatchCost cost{.time_s = 5e-3, .power_w = 10, .idle_w = 4};
  cost.core_hz = 1e9;
  cost.core_w = 0.5;
  cost.training_s = 10e-3;
  cost.training_w = 12;
  const ConcurrentTurns free = turns_at(run, {1, 8}, cost, {}, 0.2);
  run.input = TrainingRun{};
  run.input->dataset = {1e6, 100e3};
  run.input->pipeline.medium = storage_medium("hdd").cost;
  run.input->pipeline.workers = 2;
  const ConcurrentTurns slow = turns_at(run, {1, 8}, cost, {}, 0.2);
  EXPECT_EQ(free.lost_to_input, 0);
  EXPECT_GT(slow.lost_to_input, 0.5);
  EXPECT_LT(slow.trainings_per_s, free.trainings_per_s);
  EXPECT_LT(slow.mean_w, free.mean_w);
}

// What the plan says of the turns: how much of the device each takes, and what is left.
TEST(PlannedConcurrency, SharesOfTheDeviceAddUp) {
  PlanOptions options;
  options.draws = 10;
  const PlanProblem& problem = both().planned.problem;
  const PlanResult result = both().planned.plan(within(limit_s, 15), options);
  const PlannedConcurrency& beside = *result.plan.concurrent;
  EXPECT_EQ(beside.run.stream.requests_per_s, 30);
  EXPECT_TRUE(beside.minibatch == 4 || beside.minibatch == 8);
  const BatchCost& cost = result.sweep.costs[chosen_row(result)];
  EXPECT_NEAR(beside.inference_share,
              cost.time_s * 30 / static_cast<double>(result.plan.chosen.batch), 1e-12);
  EXPECT_NEAR(beside.training_share, beside.turns.trainings_per_s * cost.training_s, 1e-12);
  EXPECT_NEAR(beside.training_share + beside.inference_share + beside.turns.idle_share, 1, 1e-9);
  EXPECT_NEAR(beside.samples_per_s.value,
              beside.turns.trainings_per_s * static_cast<double>(beside.minibatch), 1e-9);
  EXPECT_LE(beside.latency_s.value, limit_s);
  EXPECT_NEAR(beside.step_s.value, cost.training_s, 1e-12);
  EXPECT_NEAR(beside.step_w->value, cost.training_w, 1e-9);
  EXPECT_NEAR(beside.step_j->value, cost.training_w * cost.training_s, 1e-9);
  EXPECT_NEAR(beside.mean_power_w->value, beside.turns.mean_w, 1e-9);
  EXPECT_EQ(problem.variants.size(), 4u);
}

// Training by hand: no request for a second, then 5 ms of inference; steps of 10 ms whose samples
// take a core of 1 GHz 1 ms each, 8 of them at 0.5 W.
TEST(PlannedConcurrency, DecodingTakesPowerOfItsOwn) {
  ConcurrentRun run;
  run.stream = {1, 0};
  BatchCost cost{.time_s = 5e-3, .power_w = 10, .idle_w = 4};
  cost.core_hz = 1e9;
  cost.core_w = 0.5;
  cost.training_s = 10e-3;
  cost.training_w = 12;
  const double per_s = 0.995 / 10e-3;
  const ConcurrentTurns plain = turns_at(run, {1, 8}, cost, {}, 1);
  EXPECT_NEAR(plain.trainings_per_s, per_s, 1e-6);
  EXPECT_NEAR(plain.mean_w, 0.995 * 12 + 0.005 * 10, 1e-6);
  EXPECT_EQ(plain.turn_s, 10e-3);
  run.input = TrainingRun{};
  run.input->dataset = {1e6, 1};
  run.input->pipeline.medium = storage_medium("ram").cost;
  run.input->pipeline.workers = 4;
  run.input->pipeline.cores = 6;
  run.input->pipeline.decode_clocks = 1e6;
  run.input->pipeline.tensor_bytes = 0;
  run.input->pipeline.queue_clocks = 0;
  run.input->pipeline.device_slowdown = 1;
  const ConcurrentTurns fed = turns_at(run, {1, 8}, cost, {}, 1);
  EXPECT_EQ(fed.lost_to_input, 0);
  EXPECT_NEAR(fed.trainings_per_s, per_s, 1e-6);
  EXPECT_NEAR(fed.mean_w, plain.mean_w + per_s * 8e-3 * 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(fed.peak_w, 12 + 4 * 0.5);
  // Loaders slow the device down to 15 ms, and copying takes 8 ms, in which it idles beside a core.
  run.input->pipeline.tensor_bytes = 1e6;
  run.input->pipeline.copy_bytes_per_s = 1e9;
  run.input->pipeline.device_slowdown = 1.5;
  const ConcurrentTurns copied = turns_at(run, {1, 8}, cost, {}, 1);
  EXPECT_NEAR(copied.turn_s, 23e-3, 1e-12);
  EXPECT_NEAR(copied.trainings_per_s, 0.995 / 23e-3, 1e-6);
  EXPECT_NEAR(copied.mean_w,
              0.995 * (15 * 12 + 8 * 4.5) / 23 + 0.05 + copied.trainings_per_s * 8e-3 * 0.5, 1e-6);
  // Half of the time a request is served: the device idles for the rest, if nothing fits.
  run.input.reset();
  run.stream = {100, 0};
  const ConcurrentTurns idle = turns_at(run, {1, 8}, cost, {}, 6e-3);
  EXPECT_EQ(idle.trainings_per_s, 0);
  EXPECT_NEAR(idle.mean_w, 0.5 * 10 + 0.5 * 4, 1e-9);
  // The least latency with a step: one that begins just before a request, less the idle time.
  EXPECT_NEAR(idle.needed_latency_s, 5e-3 + 10e-3 + 5e-3 - 10e-3, 1e-12);
}

}  // namespace
}  // namespace ridgeline::testing
