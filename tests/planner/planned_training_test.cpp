// Training plans: the bottleneck, its effect on the plan, and properties that always hold.
#include "planner/training/planned_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyzer/training/training.h"
#include "base/error.h"
#include "planner/choice.h"
#include "planner/comparison.h"
#include "planner/problem.h"
#include "planner/training/measured_input.h"
#include "roofline/model/predict.h"
#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

NetworkLoad training_load(std::string_view network, std::int64_t minibatch) {
  WorkloadOptions options;
  options.batch = minibatch;
  const Training training = train(build_workload(network, options), {});
  return network_load(lower(training.graph, Runtime::torch_eager), Runtime::torch_eager);
}

// resnet18 on an Orin Nano, minibatches of 16 from storage of the given medium.
struct Trained {
  Planned planned{"jetson-orin-nano-8gb", "resnet18", Runtime::torch_eager, {}};

  explicit Trained(std::string_view medium, double samples = 200e3, double decode_clocks = 2e6,
                   int workers = 4) {
    planned.problem.variants = {
        {std::make_shared<const NetworkLoad>(training_load("resnet18", 16)), 16, DType::fp32}};
    planned.problem.scenario = Scenario::training;
    TrainingRun& run = planned.problem.training;
    run.dataset = {samples, 150e3};
    run.sources.storage = storage_medium(medium);
    run.pipeline.medium = run.sources.storage.cost;
    run.pipeline.decode_clocks = decode_clocks;
    run.pipeline.workers = workers;
    run.pipeline.free_memory_bytes = 2e9;
    run.epochs = 10;
  }

  PlanResult plan(const Objective& objective, int draws = 0) const {
    PlanOptions options;
    options.draws = draws;
    return planned.plan(objective, options);
  }
};

TEST(PlannedTraining, SlowStorageIsTheBoundAndTheGpuClockIsLowered) {
  const Trained slow("hdd"), quick("ram");
  const Plan waits = slow.plan(least(Goal::energy)).plan;
  const Plan works = quick.plan(least(Goal::energy)).plan;
  ASSERT_TRUE(waits.training && works.training);
  EXPECT_EQ(waits.training->bound, TrainingBound::input);
  EXPECT_FALSE(waits.training->fewest_workers);
  EXPECT_NE(works.training->bound, TrainingBound::input);
  ASSERT_TRUE(works.training->fewest_workers && works.training->lowest_core_hz);
  EXPECT_LE(*works.training->fewest_workers, 4);
  EXPECT_LE(*works.training->lowest_core_hz, works.training->core_hz);
  EXPECT_LT(*waits.chosen.point.gpu_hz, *works.chosen.point.gpu_hz);
  // Beyond the disk's throughput, no clock makes an epoch shorter.
  const Plan fastest = slow.plan(least(Goal::time)).plan;
  EXPECT_NEAR(waits.training->epoch_s.value / fastest.training->epoch_s.value, 1, 0.1);
}

TEST(PlannedTraining, EpochsAddUp) {
  const Trained trained("ssd", 20e3);
  const PlanResult result = trained.plan(least(Goal::energy), 50);
  const PlannedTraining& training = *result.plan.training;
  EXPECT_LE(training.later.time_s, training.first.time_s);
  EXPECT_NEAR(training.run_s->value, training.first.time_s + 9 * training.later.time_s, 1e-6);
  EXPECT_NEAR(training.run_j->value, training.first.energy_j + 9 * training.later.energy_j, 1e-3);
  EXPECT_NEAR(training.epoch_j->value, training.mean_power_w->value * training.epoch_s.value, 1e-6);
  EXPECT_LT(training.epoch_s.low, training.epoch_s.high);
  for (const TrainedEpoch& epoch : {training.first, training.later})
    EXPECT_NEAR(epoch.time_s, epoch.device_s + epoch.stall_s, 1e-9);
  // A minibatch costs what predict() returns.
  Conditions conditions = trained.planned.problem.conditions;
  conditions.point = result.plan.chosen.point;
  const Prediction step =
      predict(trained.planned.problem.model, *trained.planned.problem.variants.back().load,
              conditions, {.draws = 50});
  EXPECT_EQ(result.plan.chosen.time_s, step.time_s);
  EXPECT_EQ(result.plan.chosen.energy_j, step.energy_j);
}

TEST(PlannedTraining, LimitsOfTimePowerAndEnergyAreKept) {
  const Trained trained("ssd", 20e3);
  const Service fastest = [&] {
    const PlanResult result = trained.plan(least(Goal::time));
    return service_of(trained.planned.problem, 0, 0, result.sweep.costs[result.sweep.fastest[0]],
                      {});
  }();
  double last = INFINITY;
  for (const double factor : {1.6, 2.0, 3.0}) {
    Objective objective =
        least(Goal::energy, {{LimitKind::training_time, factor * 10 * fastest.time_s, 0, ""},
                             {LimitKind::power, 20, 0, ""}});
    const Plan plan = trained.plan(objective, 100).plan;
    EXPECT_LE(plan.training->run_s->value, objective.limits[0].bound);
    EXPECT_LE(plan.training->mean_power_w->value, 20);
    EXPECT_GE(plan.chosen.probability, 0.9);
    EXPECT_LE(plan.training->epoch_j->value, last * (1 + 2e-6));  // no worse with wider limits
    last = plan.training->epoch_j->value;
  }
  try {
    trained.plan(least(Goal::energy, {{LimitKind::epoch_time, 1, 0, "--epoch-time 1s"}}));
    FAIL() << "no epoch takes a second";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::infeasible);
    EXPECT_THAT(error.fix(), HasSubstr("relax epoch-time to"));
  }
}

// The loaders and the training process share the cores, whose work bounds an epoch from below.
TEST(PlannedTraining, CoresHaveToDoAllOfTheWork) {
  const Trained trained("ram", 20e3, 30e6);
  const PlanResult result = trained.plan(least(Goal::time));
  const PlanProblem& problem = trained.planned.problem;
  for (std::size_t row = 0; row < result.sweep.costs.size(); row += 7) {
    const BatchCost& cost = result.sweep.costs[row];
    const OperatingPoint& point = problem.candidates.modes[result.sweep.mode_of(row)].point;
    if (!std::isfinite(cost.time_s) || !point.cpu_cores) continue;
    const TrainedEpoch epoch = trained_epoch(problem.training, 16, cost, point, false);
    const double steps = 20e3 / 16;
    const double work_s = steps * (cost.host_s + 16 * 30e6 / cost.core_hz);
    EXPECT_GE(epoch.time_s * *point.cpu_cores, work_s * (1 - 1e-9));
    EXPECT_GE(epoch.energy_j, cost.idle_w * epoch.time_s);
  }
}

StorageRow storage_row(const char* pattern, int readers, std::uint64_t bytes, double bytes_per_s) {
  return {pattern, "ext4",     "ssd", readers,
          bytes,   Status::ok, "",    exact(bytes_per_s, Source::measured)};
}

TEST(MeasuredInput, GivesBackTheMediumThatWasMeasured) {
  // 500 MB/s, 1 ms access time, 40 % of a fetch that readers cannot overlap.
  const double bytes = 100e3, alone_s = 1e-3 + bytes / 500e6;
  ProfileMode mode;
  mode.storage = {storage_row("sequential", 1, 1 << 20, 500e6),
                  storage_row("samples", 1, 100000, bytes / alone_s)};
  for (const int readers : {2, 4})
    mode.storage.push_back(
        storage_row("samples", readers, 100000, bytes / (alone_s * (0.4 + 0.6 / readers))));
  mode.decode = {{"jpeg", "libjpeg-turbo 2.1.5", 500, 375, 110000, 1, Status::ok, "",
                  exact(2e-3, Source::measured), exact(2.2e9, Source::measured)}};
  Profile profile;
  profile.modes = {mode};
  const auto medium = measured_medium(profile, "board.json");
  ASSERT_TRUE(medium);
  EXPECT_EQ(medium->source, Source::measured);
  EXPECT_EQ(medium->name, "ssd");
  EXPECT_NEAR(medium->cost.bytes_per_s, 500e6, 1);
  EXPECT_NEAR(medium->cost.access_s, 1e-3, 1e-9);
  EXPECT_NEAR(medium->cost.serial_share, 0.4, 1e-9);
  const auto decoding = measured_decoding(profile, "board.json");
  ASSERT_TRUE(decoding);
  EXPECT_NEAR(decoding->clocks_per_byte, 40, 1e-9);

  for (StorageRow& row : profile.modes[0].storage) row.medium.clear();
  EXPECT_EQ(measured_medium(profile, "board.json")->name, "board.json");
  profile.modes[0].storage.resize(2);
  EXPECT_EQ(measured_medium(profile, "board.json")->cost.serial_share, 1);
  profile.modes[0].storage.resize(1);
  EXPECT_FALSE(measured_medium(profile, "board.json"));
}

// Two readers that disturb each other are no slower than one that reads twice as much.
TEST(MeasuredInput, ReadersAreNeverMoreThanSerial) {
  ProfileMode mode;
  mode.storage = {storage_row("sequential", 1, 1 << 20, 100e6),
                  storage_row("samples", 1, 100000, 50e6), storage_row("samples", 2, 100000, 20e6)};
  Profile profile;
  profile.modes = {mode};
  EXPECT_EQ(measured_medium(profile, "board.json")->cost.serial_share, 1);
  profile.modes[0].storage[2] = storage_row("samples", 2, 100000, 500e6);  // from a cache
  EXPECT_EQ(measured_medium(profile, "board.json")->cost.serial_share, 0);
}

// Facts of the chosen mode: its cores and clock, and queue and copy of a minibatch.
TEST(PlannedTraining, StatesTheCoresAndTheResidual) {
  const Trained trained("ssd", 20e3);
  const PlanProblem& problem = trained.planned.problem;
  const Sweep swept = sweep(problem);
  SweepDraws none(problem, swept, {});
  const std::size_t row = *problem.candidates.default_mode;
  const OperatingPoint& point = problem.candidates.modes[row].point;
  const PlannedTraining training = planned_training(problem, swept, none, row, BoundBy::memory);
  EXPECT_EQ(training.cores, *point.cpu_cores);
  EXPECT_GT(training.cores, 1);
  EXPECT_EQ(training.core_hz, *std::max_element(point.cpu_hz.begin(), point.cpu_hz.end()));
  EXPECT_EQ(training.minibatch, 16);
  // 16 images of 224x224x3 floats at 1.28 GB/s, and 7.2 million clocks of the queue.
  EXPECT_NEAR(training.residual_s, 16 * 3.0 * 224 * 224 * 4 / 1.28e9 + 7.2e6 / training.core_hz,
              1e-9);
  EXPECT_EQ(training.run.epochs, 10);
  const auto rows = compare_modes(trained.planned.problem, least(Goal::energy), {.draws = 0});
  ASSERT_EQ(rows.size(), 3u);
  for (const ComparedRow& mode : rows) {
    ASSERT_TRUE(mode.training) << mode.label;
    EXPECT_GT(mode.training->later.time_s, 0) << mode.label;
  }
}

// A medium that is twice as slow has twice the access time and half the rate.
TEST(PlannedTraining, ASlowerMediumIsSlowerInAllItsParts) {
  TrainingRun run;
  run.pipeline.medium = {100e6, 4e-3, 0.5};
  run.pipeline.cores = 6;
  BatchCost cost;
  cost.core_hz = 1e9;
  cost.host_s = 3e-3;
  cost.fetch_scale = 2;
  OperatingPoint point;
  const InputPipeline pipeline = pipeline_at(run, cost, point);
  EXPECT_EQ(pipeline.medium.access_s, 8e-3);
  EXPECT_EQ(pipeline.medium.bytes_per_s, 50e6);
  EXPECT_EQ(pipeline.core_hz, 1e9);
  EXPECT_EQ(pipeline.host_s, 3e-3);
  EXPECT_EQ(pipeline.cores, 6);  // where the mode does not say
  point.cpu_cores = 2;
  EXPECT_EQ(pipeline_at(run, cost, point).cores, 2);
}

// Two epochs by hand: 10 steps of 0.1 s at 20 W and 0.01 s of copying each, in which the device
// idles at 5 W and a core takes 2 W. The first epoch also reads for 1 s.
TEST(PlannedTraining, EnergyAndPowerByHand) {
  TrainingRun run;
  run.dataset = {100, 1e6};
  run.pipeline.medium = {100e6, 0, 1};
  run.pipeline.tensor_bytes = 1e6;
  run.pipeline.copy_bytes_per_s = 1e9;
  run.pipeline.free_memory_bytes = 200e6;
  BatchCost cost{.time_s = 0.1, .power_w = 20, .idle_w = 5};
  cost.core_hz = 1e9;
  cost.core_w = 2;
  OperatingPoint point;
  point.cpu_cores = 4;
  const double cached_s = 100 * fetch_s(cached_fetch, 1e6);
  const Service later = training_service(run, 10, cost, point);
  EXPECT_NEAR(later.time_s, 1 + 0.1 + cached_s, 1e-9);
  EXPECT_NEAR(later.energy_j, 20 + 5 * (0.1 + cached_s) + 2 * 0.1, 1e-9);
  EXPECT_NEAR(later.sample_s, later.time_s / 100, 1e-12);
  EXPECT_EQ(later.goal_s, later.sample_s);
  EXPECT_NEAR(later.mean_power_w, later.energy_j / later.time_s, 1e-9);
  EXPECT_EQ(later.run_s, 0);  // without a number of epochs
  run.epochs = 2;
  const Service both = training_service(run, 10, cost, point);
  EXPECT_NEAR(both.time_s, (1 + 0.1 + 1 + later.time_s) / 2, 1e-9);
  EXPECT_NEAR(both.energy_j, (20 + 5 * 1.1 + 0.2 + later.energy_j) / 2, 1e-9);
  EXPECT_NEAR(both.run_s, 2 * both.time_s, 1e-9);
  EXPECT_EQ(both.latency_s, both.time_s);
  // A slowdown of training is that of its epochs; beside inference that of a step.
  PlanProblem problem;
  problem.training = run;
  problem.variants.resize(1);
  problem.variants[0].batch = 10;
  problem.candidates = single_mode(point);
  problem.scenario = Scenario::training;
  EXPECT_EQ(pace_s(problem, 0, 0, cost), both.time_s);
  problem.scenario = Scenario::concurrent;
  cost.training_s = 0.7;
  EXPECT_EQ(pace_s(problem, 0, 0, cost), 0.7);
  problem.scenario = Scenario::inference;
  EXPECT_EQ(pace_s(problem, 0, 0, cost), 0.1);
  // Loaders decode beside the device, as many as there are cores for them.
  EXPECT_DOUBLE_EQ(both.peak_power_w, 20);
  run.pipeline.workers = 2;
  EXPECT_DOUBLE_EQ(training_service(run, 10, cost, point).peak_power_w, 24);
  run.pipeline.workers = 9;
  EXPECT_DOUBLE_EQ(training_service(run, 10, cost, point).peak_power_w, 26);
}

}  // namespace
}  // namespace ridgeline::testing
