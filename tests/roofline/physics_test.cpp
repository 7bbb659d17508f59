// Physics that every prediction must keep, on random machines, modes, networks, batches, types and
// runtimes: more clock is never slower, roofs hold, sums add up. The trials are the same in every
// run, and each failure prints its command; --gtest_random_seed=N tries others. Laws are exact:
// only rounding and the bisection of clocks have a tolerance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/training/memory.h"
#include "base/error.h"
#include "base/random.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/explain/choices.h"
#include "roofline/model/predict.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"
#include "tests/roofline/random_network.h"

namespace ridgeline::testing {
namespace {

// Sums in another order, and the clock under a cap, which is found by bisection.
constexpr double rounding = 1e-9;
constexpr double bisection = 2e-5;
// Of each law.
constexpr std::uint64_t seed_count = 8;
constexpr int trials_per_seed = 50;

// Networks that build quickly and have different bottlenecks; the empty name is a random network.
constexpr const char* network_names[] = {
    "",         "",          "",       "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large",
    "vit_b_32", "bert_base", "swin_t", "yolov8n",  "gpt2",     "vgg11",        "efficientnet_b0"};
constexpr std::uint64_t random_networks = 24;
constexpr Runtime runtimes_of_cards[] = {Runtime::ideal,       Runtime::tensorrt,
                                         Runtime::torch_eager, Runtime::torch_compiled,
                                         Runtime::cuda_graph,  Runtime::onnxruntime};

struct NetworkChoice {
  std::string name;  // of a workload; empty: made at random
  std::uint64_t seed = 0;
  std::int64_t batch = 1;
  DType dtype = DType::fp16;
};

// Built once each: many trials share a network.
const NetworkLoad& trial_load(const NetworkChoice& network, Runtime runtime) {
  static std::map<std::tuple<std::string, std::uint64_t, std::int64_t, DType, Runtime>, NetworkLoad>
      loads;
  const std::tuple key{network.name, network.seed, network.batch, network.dtype, runtime};
  const auto known = loads.find(key);
  if (known != loads.end()) return known->second;
  WorkloadOptions options;
  options.batch = network.batch;
  options.dtype = workload_dtype(network.dtype);
  const std::vector<Demand> demands =
      network.name.empty()
          ? lower(random_network(network.seed, network.batch, workload_dtype(network.dtype)),
                  runtime)
          : lower(build_workload(network.name, options), runtime);
  return loads.emplace(key, network_load(demands, runtime)).first->second;
}

struct TestedMachine {
  catalog::Device device;
  MachineModel model;
  std::vector<OperatingPoint> points;  // its stock modes, or the default
  std::map<Runtime, Coefficients> values;
};

// The catalog lacks the bus of some boards and the clocks of some modes.
bool is_predictable(const MachineModel& model, const OperatingPoint& point) {
  try {
    device_point(coefficients(model, Runtime::ideal), point);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<TestedMachine>& machines() {
  static std::vector<TestedMachine> all = [] {
    std::vector<TestedMachine> made;
    for (const catalog::IndexRow& row : catalog::index()) {
      const catalog::Device device = catalog::load(row.id);
      if (!device.gpu) continue;
      TestedMachine machine{device, model_of(device.id), {}, {}};
      const catalog::Configuration configuration = catalog::configuration(device);
      for (const DeviceMode& mode : stock_modes(device, configuration))
        if (is_predictable(machine.model, mode.point)) machine.points.push_back(mode.point);
      const OperatingPoint point = default_mode(device, configuration).point;
      if (machine.points.empty() && is_predictable(machine.model, point))
        machine.points.push_back(point);
      if (machine.points.empty()) continue;
      made.push_back(std::move(machine));
    }
    return made;
  }();
  return all;
}

const Coefficients& values_of(TestedMachine& machine, Runtime runtime) {
  const auto known = machine.values.find(runtime);
  if (known != machine.values.end()) return known->second;
  return machine.values.emplace(runtime, coefficients(machine.model, runtime)).first->second;
}

struct Trial {
  TestedMachine* machine = nullptr;
  OperatingPoint point;
  NetworkChoice network;
  Runtime runtime = Runtime::ideal;

  Conditions conditions() const {
    Conditions conditions;
    conditions.point = point;
    conditions.runtime = runtime;
    return conditions;
  }
  Step step(const Coefficients& values) const {
    return StepModel(trial_load(network, runtime), values).at(conditions(), false);
  }
  double time_s() const { return step(values_of(*machine, runtime)).time_s; }

  // The command that shows the same run.
  std::string command() const {
    return fmt::format("ridgeline explain {} --on {} --mode {} --batch {} --dtype {} --runtime {}",
                       network.name.empty() ? fmt::format("random-{}", network.seed) : network.name,
                       machine->device.id, request_text(point), network.batch,
                       to_string(network.dtype), to_string(runtime));
  }
};

std::ostream& operator<<(std::ostream& out, const Trial& trial) { return out << trial.command(); }

bool has_units_for(const TestedMachine& machine, DType dtype) {
  return runnable_dtype(machine.model, dtype) == dtype;
}

class Trials {
 public:
  explicit Trials(std::uint64_t seed) : random_{seed} {}

  int below(int limit) { return static_cast<int>(random_.below(static_cast<std::size_t>(limit))); }
  double between(double low, double high) { return low + (high - low) * random_.unit(); }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[random_.below(values.size())];
  }

  Trial next() {
    Trial trial;
    trial.machine = &machines()[random_.below(machines().size())];
    trial.point = one_of(trial.machine->points);
    trial.point.gpu_hz = *trial.point.gpu_hz * between(0.3, 1);
    trial.network.name = network_names[random_.below(std::size(network_names))];
    if (trial.network.name.empty()) trial.network.seed = random_.below(random_networks);
    trial.network.batch = std::int64_t{1} << below(5);
    trial.network.dtype = one_of<DType>({DType::fp32, DType::fp16, DType::int8});
    if (!has_units_for(*trial.machine, trial.network.dtype)) trial.network.dtype = DType::fp32;
    trial.runtime = runtimes_of_cards[random_.below(std::size(runtimes_of_cards))];
    if (trial.machine->device.kind == catalog::Kind::jetson && below(7) == 0)
      trial.runtime = Runtime::torch_eager_hooks;
    return trial;
  }

 private:
  Random random_;
};

// Calls `check` for the trials of a law, with several seeds.
template <class Check>
void each_trial(std::uint64_t law, const Check& check) {
  const std::uint64_t run = static_cast<std::uint64_t>(::testing::GTEST_FLAG(random_seed));
  for (std::uint64_t seed = seed_count * run; seed < seed_count * (run + 1); ++seed) {
    Trials trials(law + 1000 * seed);
    for (int i = 0; i < trials_per_seed; ++i) check(trials);
  }
}

// With the cap lifted: a cap holds the power, so more of one knob may leave less clock for another.
double time_without_cap(Trial trial, double cache_share = 1) {
  trial.point.cap_w.reset();
  Coefficients values = values_of(*trial.machine, trial.runtime);
  values.power.cap_w.reset();
  values.engine.cache_bytes *= cache_share;
  return trial.step(values).time_s;
}

double time_with_cache(const Trial& trial, double cache_share) {
  Coefficients values = values_of(*trial.machine, trial.runtime);
  values.engine.cache_bytes *= cache_share;
  return trial.step(values).time_s;
}

TEST(Physics, MoreClockOrUnitsAreNeverSlower) {
  each_trial(1, [](Trials& trials) {
    const Trial slow = trials.next();
    Trial fast = slow;
    const double factor = trials.between(1, 3);
    switch (trials.below(4)) {
      case 0:
        fast.point.gpu_hz = *fast.point.gpu_hz * factor;
        break;
      case 1:
        if (fast.point.memory_hz) fast.point.memory_hz = *fast.point.memory_hz * factor;
        break;
      case 2:
        for (double& hz : fast.point.cpu_hz) hz *= factor;
        break;
      default:
        fast.point.gpu_units = *fast.point.gpu_units + 1 + trials.below(8);
    }
    const double before = time_without_cap(slow), after = time_without_cap(fast);
    EXPECT_LE(after, before * (1 + rounding)) << after / before << ": " << slow << "\n" << fast;
  });
}

// Under its cap a card runs as fast at a higher GPU clock, which it cannot hold.
TEST(Physics, MoreGpuClockIsNeverSlowerUnderACap) {
  each_trial(2, [](Trials& trials) {
    const Trial slow = trials.next();
    Trial fast = slow;
    fast.point.gpu_hz = *fast.point.gpu_hz * trials.between(1, 3);
    const double before = slow.time_s(), after = fast.time_s();
    EXPECT_LE(after, before * (1 + bisection)) << after / before << ": " << slow << "\n" << fast;
  });
}

// A larger batch shares starts, weights and partial tiles among more samples, but loses cache hits
// once its activations no longer fit: then throughput falls, by up to a quarter on L4. Nothing else
// may cost throughput: it is never lower than that of the small batch if its cache is smaller by
// the same factor. More cache never costs time.
TEST(Physics, ThroughputFallsWithTheBatchByLostCacheHitsAlone) {
  each_trial(3, [](Trials& trials) {
    const Trial small = trials.next();
    Trial large = small;
    const int factor = 2 + trials.below(3);
    large.network.batch *= factor;
    const double fewer_hits = time_without_cap(small, 1.0 / factor);
    EXPECT_LE(time_without_cap(small), fewer_hits * (1 + rounding)) << small;
    const double more = time_without_cap(large) / factor;  // for as many samples
    EXPECT_LE(more, fewer_hits * (1 + rounding)) << more / fewer_hits << ": " << small << "\n"
                                                 << large;
    EXPECT_LE(large.time_s() / factor, time_with_cache(small, 1.0 / factor) * (1 + bisection))
        << "under its cap: " << small << "\n"
        << large;
  });
}

TEST(Physics, NarrowerTypesAreNeverSlower) {
  each_trial(4, [](Trials& trials) {
    Trial wide = trials.next();
    wide.network.dtype = trials.below(2) == 0 ? DType::fp32 : DType::fp16;
    Trial narrow = wide;
    narrow.network.dtype = wide.network.dtype == DType::fp32 ? DType::fp16 : DType::int8;
    if (!has_units_for(*wide.machine, wide.network.dtype) ||
        !has_units_for(*wide.machine, narrow.network.dtype))
      return;
    const double before = wide.time_s(), after = narrow.time_s();
    EXPECT_LE(after, before * (1 + bisection)) << after / before << ": " << narrow;
  });
}

TEST(Physics, NoRunIsFasterThanItsRoofs) {
  each_trial(5, [](Trials& trials) {
    const Trial trial = trials.next();
    const MachineModel& model = trial.machine->model;
    const Ceilings ceilings = model_ceilings(model, trial.point, trial.runtime);
    const ApplicableCeilings roofs(ceilings);
    const double time_s = trial.time_s();
    for (const Runtime runtime : {trial.runtime, Runtime::ideal}) {
      const double roof_s =
          roofs.least_time_s(trial_load(trial.network, runtime), cache_bytes(model));
      EXPECT_GE(time_s, roof_s * (1 - rounding)) << to_string(runtime) << ": " << trial;
    }
  });
}

TEST(Physics, PowerIsBetweenIdleAndTheCap) {
  each_trial(6, [](Trials& trials) {
    const Trial trial = trials.next();
    const Coefficients& values = values_of(*trial.machine, trial.runtime);
    const Step step = trial.step(values);
    if (!step.power_w) return;
    OperatingPoint point = trial.point;
    point.gpu_hz = step.gpu_hz;
    const double idle_w = constant_power(values, device_point(values, point), point, 0, 0);
    EXPECT_GE(*step.power_w, idle_w * (1 - rounding)) << trial;
    if (values.power.cap_w) {
      EXPECT_LE(*step.power_w, *values.power.cap_w * (1 + bisection)) << trial;
    }
  });
}

TEST(Physics, TotalsAreSumsAndEnergyIsPowerTimesTime) {
  each_trial(7, [](Trials& trials) {
    const Trial trial = trials.next();
    const Prediction prediction =
        predict(trial.machine->model, trial_load(trial.network, trial.runtime), trial.conditions(),
                {.draws = 0, .rows = RowDetail::values});
    double time_s = 0, energy_j = 0;
    for (const PredictedDemand& row : prediction.demands) {
      EXPECT_GE(row.time_s.value, 0) << trial;
      time_s += row.time_s.value;
      if (row.energy_j) energy_j += row.energy_j->value;
    }
    for (const Overhead& overhead : prediction.overheads) {
      time_s += overhead.time_s;
      energy_j += overhead.energy_j;
    }
    EXPECT_NEAR(time_s / prediction.time_s.value, 1, rounding) << trial;
    EXPECT_NEAR(trial.time_s() / prediction.time_s.value, 1, rounding) << trial;
    if (!prediction.energy_j) return;
    EXPECT_NEAR(energy_j / prediction.energy_j->value, 1, rounding) << trial;
    EXPECT_NEAR(prediction.power_w->value * time_s / prediction.energy_j->value, 1, rounding)
        << trial;
  });
}

// Random networks, clocks and batches; the next test takes every workload.
TEST(Physics, TensorRtIsNeverSlowerThanEagerModeAtAnyClock) {
  each_trial(8, [](Trials& trials) {
    Trial eager = trials.next();
    if (eager.network.dtype == DType::int8) return;  // no kernels of PyTorch's own
    eager.runtime = Runtime::torch_eager;
    Trial engine = eager;
    engine.runtime = Runtime::tensorrt;
    EXPECT_LE(engine.time_s(), eager.time_s() * (1 + bisection))
        << engine.time_s() / eager.time_s() << " times: " << engine;
  });
}

// Weights are held once, activations by each sample; narrower types take no more of either.
TEST(Physics, MemoryGrowsWithTheBatchAndTheType) {
  const auto memory_of = [](std::uint64_t network, std::int64_t batch, DType dtype) {
    return inference_memory(random_network(network, batch, workload_dtype(dtype)));
  };
  each_trial(9, [&](Trials& trials) {
    const auto network = static_cast<std::uint64_t>(trials.below(1 << 20));
    const int batch = 1 + trials.below(16), factor = 2 + trials.below(3);
    const RunMemory one = memory_of(network, batch, DType::fp16);
    const RunMemory more = memory_of(network, batch * factor, DType::fp16);
    const RunMemory wide = memory_of(network, batch, DType::fp32);
    const auto which = [&] {
      return fmt::format("random-{}, batch {} x{}", network, batch, factor);
    };
    EXPECT_EQ(more.weights, one.weights) << which();
    EXPECT_GE(more.activations, one.activations) << which();
    EXPECT_LE(more.activations, factor * one.activations * (1 + rounding)) << which();
    EXPECT_LE(one.activations, one.unshared * (1 + rounding)) << which();
    EXPECT_LE(one.weights, wide.weights) << which();
    EXPECT_LE(one.activations, wide.activations) << which();
  });
}

TEST(Physics, TensorRtIsNeverSlowerThanEagerMode) {
  for (TestedMachine& machine : machines()) {
    for (const Workload& workload : all_workloads())
      for (const std::int64_t batch : {1, 16})
        for (const DType dtype : {DType::fp32, DType::fp16}) {
          if (!has_units_for(machine, dtype)) continue;
          Trial eager{&machine,
                      machine.points.front(),
                      {std::string(workload.name), 0, batch, dtype},
                      Runtime::torch_eager};
          Trial engine = eager;
          engine.runtime = Runtime::tensorrt;
          EXPECT_LE(engine.time_s(), eager.time_s() * (1 + bisection))
              << engine.time_s() / eager.time_s() << " times: " << engine;
        }
  }
}

}  // namespace
}  // namespace ridgeline::testing
