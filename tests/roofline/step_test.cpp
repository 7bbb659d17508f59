// Laws of the model: faster hardware never takes longer, sums add up, a mode's result does not
// depend on the other modes evaluated; and the clock under a power cap.
#include "roofline/model/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "roofline/model/predict.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

constexpr std::string_view orin_64gb = "jetson-agx-orin-64gb";
const std::vector<Runtime> runtimes = {
    Runtime::ideal,          Runtime::tensorrt,   Runtime::torch_eager, Runtime::torch_eager_hooks,
    Runtime::torch_compiled, Runtime::cuda_graph, Runtime::onnxruntime};

Conditions at(const OperatingPoint& point, Runtime runtime) {
  Conditions conditions;
  conditions.point = point;
  conditions.runtime = runtime;
  return conditions;
}

double time_of(const StepModel& model, const OperatingPoint& point, Runtime runtime) {
  return model.at(at(point, runtime), false).time_s;
}

class OfRuntime : public ::testing::TestWithParam<Runtime> {};

TEST_P(OfRuntime, MoreClockUnitsOrBandwidthIsNeverSlower) {
  const Runtime runtime = GetParam();
  for (const char* name : {"resnet18", "mobilenet_v2", "bert_base", "lstm"}) {
    for (const std::int64_t batch : {1, 16}) {
      const NetworkLoad load = load_of(name, runtime, batch);
      const StepModel model(load, coefficients(model_of(orin_64gb), runtime));
      OperatingPoint point = point_of(orin_64gb, "30W");
      double before = time_of(model, point, runtime);
      const auto faster = [&](const char* what) {
        const double now = time_of(model, point, runtime);
        EXPECT_LE(now, before * (1 + 1e-9)) << name << " batch " << batch << ": " << what;
        before = now;
      };
      for (double hz = 306e6; hz <= 1300e6; hz += 50e6) {
        point.gpu_hz = hz;
        if (hz == 306e6) before = time_of(model, point, runtime);
        faster("GPU clock");
      }
      for (int units = 8; units <= 16; units += 2) {
        point.gpu_units = units;
        faster("SMs");
      }
      point.memory_hz = 204e6;
      before = time_of(model, point, runtime);
      for (const double hz : {665.6e6, 2133e6, 3199e6}) {
        point.memory_hz = hz;
        faster("memory clock");
      }
      for (const double hz : {1.8e9, 2.0e9, 2.2e9}) {
        point.cpu_hz = {hz};
        faster("CPU clock");
      }
    }
  }
}

// The planner needs only totals, which must match those of an explanation.
TEST_P(OfRuntime, TotalsAreTheSameWithoutIntervalsOfRows) {
  const Runtime runtime = GetParam();
  const NetworkLoad load = load_of("mobilenet_v3_large", runtime, 4);
  const Conditions conditions = at(point_of(orin_64gb, "30W"), runtime);
  PredictOptions options;
  options.draws = 40;
  const Prediction full = predict(model_of(orin_64gb), load, conditions, options);
  options.rows = RowDetail::values;
  const Prediction lean = predict(model_of(orin_64gb), load, conditions, options);
  EXPECT_EQ(lean.time_s, full.time_s);
  EXPECT_EQ(lean.power_w, full.power_w);
  EXPECT_EQ(lean.energy_j, full.energy_j);
  ASSERT_EQ(lean.demands.size(), full.demands.size());
  for (std::size_t i = 0; i < lean.demands.size(); ++i) {
    EXPECT_EQ(lean.demands[i].time_s.value, full.demands[i].time_s.value);
    EXPECT_EQ(lean.demands[i].time_s.high, lean.demands[i].time_s.value);
  }
}

TEST_P(OfRuntime, RowsAndOverheadsAddUpToTheTotal) {
  const Runtime runtime = GetParam();
  const NetworkLoad load = load_of("mobilenet_v3_large", runtime, 4);
  PredictOptions options;
  options.draws = 40;
  const Prediction prediction =
      predict(model_of(orin_64gb), load, at(point_of(orin_64gb, "30W"), runtime), options);
  double time_s = 0, energy_j = 0;
  for (const PredictedDemand& row : prediction.demands) {
    EXPECT_GE(row.time_s.value, 0);
    EXPECT_LE(row.time_s.low, row.time_s.value);
    EXPECT_GE(row.time_s.high, row.time_s.value);
    EXPECT_GE(row.energy_j->value, 0);
    for (const Term& term : row.terms) {
      EXPECT_GE(term.time_s, 0);
      EXPECT_GE(term.energy_j.value_or(0), 0);
    }
    time_s += row.time_s.value;
    energy_j += row.energy_j->value;
  }
  for (const Overhead& overhead : prediction.overheads) {
    time_s += overhead.time_s;
    energy_j += overhead.energy_j;
  }
  EXPECT_NEAR(time_s, prediction.time_s.value, 1e-9 * time_s);
  EXPECT_NEAR(energy_j, prediction.energy_j->value, 1e-9 * energy_j);
  EXPECT_NEAR(prediction.energy_j->value, prediction.power_w->value * time_s, 1e-9 * energy_j);
  EXPECT_LE(prediction.time_s.low, prediction.time_s.value);
  EXPECT_GE(prediction.time_s.high, prediction.time_s.value);
}

INSTANTIATE_TEST_SUITE_P(Each, OfRuntime, ::testing::ValuesIn(runtimes), [](const auto& each) {
  std::string name(to_string(each.param));
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
});

TEST(Step, AModeDoesNotDependOnTheOthersThatWereAskedFor) {
  const NetworkLoad load = load_of("resnet18", Runtime::torch_eager);
  const Coefficients values = coefficients(model_of(orin_64gb), Runtime::torch_eager);
  const StepModel busy(load, values);
  for (const char* mode : {"MAXN", "15W", "50W"})
    busy.at(at(point_of(orin_64gb, mode), Runtime::torch_eager));
  const Conditions asked = at(point_of(orin_64gb, "30W"), Runtime::torch_eager);
  EXPECT_EQ(busy.at(asked).time_s, StepModel(load, values).at(asked).time_s);
  EXPECT_EQ(busy.at(asked, false).time_s, busy.at(asked, true).time_s);
}

// A100-40GB-PCIe, 250 W: gpt2 at batch 32 and 512 tokens requested 1410 MHz and ran at 1186 to 1192
// (EnergAIzer artifact, ISPASS 2026).
TEST(Step, ThePowerCapLeavesTheClockThatWasSeen) {
  const std::string_view a100 = "a100-40gb-pcie";
  const NetworkLoad load =
      load_of("gpt2", Runtime::torch_eager, 32, "bf16", "seq=512;attention=eager");
  const MachineModel model = model_of(a100);
  const Step step = StepModel(load, coefficients(model, Runtime::torch_eager))
                        .at(at(point_of(a100, "gpu=1410MHz"), Runtime::torch_eager));
  EXPECT_TRUE(step.capped);
  EXPECT_NEAR(step.gpu_hz, 1190e6, 100e6);
  EXPECT_NEAR(*step.power_w, 241, 1);  // the mean that its control settles at under 250 W
  EXPECT_EQ(bound_of(step), BoundBy::power_cap);
}

TEST(Step, GovernorsAndStallsBelongToOneRuntimeAndFreeClocks) {
  Conditions conditions = at(point_of(orin_64gb, "MAXN"), Runtime::torch_eager_hooks);
  const NetworkLoad load = load_of("mobilenet_v3_small", Runtime::torch_eager_hooks, 1, "fp32");
  const StepModel model(load, coefficients(model_of(orin_64gb), Runtime::torch_eager_hooks));
  EXPECT_EQ(model.at(conditions).gpu_hz, 1300.5e6);
  conditions.locked = false;
  EXPECT_LT(model.at(conditions).gpu_hz, 1300.5e6);
}

TEST(Step, WhatThePointLacksIsNamed) {
  const NetworkLoad load = load_of("resnet18", Runtime::tensorrt);
  const StepModel model(load, coefficients(model_of(orin_64gb), Runtime::tensorrt));
  OperatingPoint point = point_of(orin_64gb, "30W");
  point.gpu_hz.reset();
  try {
    model.at(at(point, Runtime::tensorrt));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no GPU clock"), std::string::npos);
  }
}

// Fastest STREAM kernel per mode, GB/s (branes-ai/graphs, PyTorch, clocks not locked).
TEST(Step, UsableBandwidthIsThatOfStreamInEveryMode) {
  struct Seen {
    const char* device;
    const char* mode;  // the limit depends on the clocks, not the SMs
    double bytes_per_s;
  };
  for (const Seen& seen : {Seen{"jetson-agx-orin-64gb", "15W", 81.2e9},
                           {"jetson-agx-orin-64gb", "30W", 128.0e9},
                           {"jetson-agx-orin-64gb", "50W", 170.8e9},
                           {"jetson-agx-orin-64gb", "MAXN", 189.5e9},
                           {"jetson-orin-nx-16gb", "gpu=612MHz,emc=2133MHz", 60.3e9},
                           {"jetson-orin-nx-16gb", "gpu=612MHz,emc=3199MHz", 65.0e9},
                           {"jetson-orin-nx-16gb", "gpu=408MHz,emc=3199MHz", 43.8e9},
                           {"jetson-orin-nx-16gb", "gpu=918MHz,emc=3199MHz", 92.6e9},
                           {"jetson-orin-nano-8gb", "gpu=408MHz,emc=2133MHz", 39.7e9},
                           {"jetson-orin-nano-8gb", "gpu=612MHz,emc=2133MHz", 63.4e9},
                           {"jetson-orin-nano-8gb", "gpu=918MHz,emc=3199MHz", 95.5e9},
                           {"jetson-orin-nano-8gb", "gpu=1020MHz,emc=3199MHz", 95.3e9}}) {
    const Coefficients values = coefficients(model_of(seen.device), Runtime::ideal);
    const DevicePoint point = device_point(values, point_of(seen.device, seen.mode));
    EXPECT_NEAR(point.bytes_per_s / seen.bytes_per_s, 1, 0.08) << seen.device << " " << seen.mode;
  }
}

// MLPerf inference, single stream: resnet50 int8 at NVIDIA's tuned clocks (v2.0, 0.912 ms, 27.7 W)
// took 0.88 of the energy of MAXN (v3.0 cTuning, 0.691 ms, 41.5 W), at the wall.
TEST(Step, TunedClocksSaveTheEnergyThatWasMeasured) {
  const NetworkLoad load = load_of("resnet50", Runtime::tensorrt, 1, "int8");
  const StepModel model(load, coefficients(model_of(orin_64gb), Runtime::tensorrt));
  const auto energy = [&](const char* mode) {
    Conditions conditions = at(point_of(orin_64gb, mode), Runtime::tensorrt);
    conditions.power_kind = PowerKind::wall;
    const Step step = model.at(conditions);
    return *step.power_w * step.time_s;
  };
  const double ratio = energy("gpu=930.75MHz,emc=3199MHz,cpu=1036.8MHz,cores=2") / energy("MAXN");
  EXPECT_NEAR(ratio, 27.701 * 0.911949 / (41.533 * 0.691229), 0.088);
}

// The cap of the board itself holds where a mode sets none, or a higher one.
TEST(Step, TheBoardsOwnCapHolds) {
  MachineModel model = model_of("a100-40gb-pcie");
  const NetworkLoad load = load_of("resnet101", Runtime::torch_eager, 128);
  Conditions conditions;
  conditions.point = point_of("a100-40gb-pcie", "gpu=1410MHz");
  conditions.runtime = load.runtime;
  conditions.point.cap_w.reset();
  const auto step = [&](double board_w) {
    set_parameter(model, {"power_cap_w", board_w, Source::datasheet});
    return StepModel(load, coefficients(model, load.runtime)).at(conditions, false);
  };
  const double share = coefficients(model, load.runtime).power.cap_share;
  const Step free = step(1000), held = step(150);
  EXPECT_FALSE(free.capped);
  ASSERT_GT(*free.power_w, 160);
  EXPECT_TRUE(held.capped);
  EXPECT_NEAR(*held.power_w, 150 * share, 1);
  EXPECT_GT(held.time_s, free.time_s);
  conditions.point.cap_w = 200;
  EXPECT_NEAR(*step(150).power_w, 150 * share, 1);
  conditions.point.cap_w = 120;
  EXPECT_NEAR(*step(150).power_w, 120 * share, 1);
}

// AGX Orin's CPU rail falls by 0.4 of its top voltage per gigahertz, down to a floor.
TEST(Step, CpuPowerFollowsClockAndVoltageSquared) {
  Coefficients machine;
  machine.power.cpu_idle_joule = 1e-9;
  machine.power.cpu_top_hz = 2.2e9;
  machine.power.cpu_voltage_floor = 0.5;
  const auto watt = [&](double hz) {
    OperatingPoint point;
    point.cpu_hz = {hz};
    point.cpu_cores = 2;
    return constant_power(machine, {}, point, 0, 0);
  };
  EXPECT_NEAR(watt(2.2e9), 2 * 2.2, 1e-9);
  EXPECT_NEAR(watt(1.2e9), 2 * 1.2 * 0.6 * 0.6, 1e-9);
  EXPECT_NEAR(watt(0.2e9), 2 * 0.2 * 0.5 * 0.5, 1e-9);
  EXPECT_NEAR(watt(2.4e9), 2 * 2.4, 1e-9);
}

// One kernel on ten SMs at up to 1 GHz.
NetworkLoad one_kernel(KernelLoad kernel, Runtime runtime) {
  NetworkLoad load;
  load.runtime = runtime;
  kernel.name = "kernel";
  load.kernels = {std::move(kernel)};
  return load;
}

Conditions at_one_ghz(Runtime runtime) {
  OperatingPoint point;
  point.gpu_hz = 1e9;
  point.gpu_units = 10;
  point.cpu_hz = {1e9};
  return at(point, runtime);
}

// 100 W at 1 GHz, in proportion to the clock: a cap of 50 W leaves 500 MHz. The GPU moves 50 bytes
// per clock, so a gigabyte takes twice as long there.
TEST(Step, BandwidthFallsWithTheClockThatACapLeaves) {
  Coefficients machine;
  machine.memory_bytes_per_s = 100e9;
  machine.dram_bytes_per_clock = 50;
  machine.engine.overlap = 1;
  machine.power.known = true;
  machine.power.busy_joule = 1e-8;
  KernelLoad copy;
  copy.kind = KernelKind::copy;
  copy.activation_bytes = 1e9;
  const NetworkLoad load = one_kernel(copy, Runtime::ideal);
  const Step free = StepModel(load, machine).at(at_one_ghz(Runtime::ideal));
  EXPECT_NEAR(free.time_s, 0.02, 1e-9);
  EXPECT_NEAR(*free.power_w, 100, 1e-6);
  machine.power.cap_w = 50;
  const Step capped = StepModel(load, machine).at(at_one_ghz(Runtime::ideal));
  EXPECT_TRUE(capped.capped);
  EXPECT_NEAR(capped.gpu_hz, 0.5e9, 1e4);
  EXPECT_NEAR(capped.time_s, 0.04, 1e-6);
  EXPECT_NEAR(*capped.power_w, 50, 0.01);
}

// 0.2 s of arithmetic at 1 GHz beside 0.4 s of the host. At a target of one half the GPU is to be
// busy as long as the host: 500 MHz. At a target of 0.8 it is to be busy four times as long, at
// 125 MHz, unless the floor of the governor is higher; at 0.2 the top clock is too slow already.
TEST(Step, AGovernorKeepsTheLoadAtItsTarget) {
  const Runtime runtime = Runtime::torch_eager_hooks;
  Coefficients machine;
  machine.memory_bytes_per_s = 1e12;
  machine.engine.overlap = 1;
  machine.engine.matrix_rate[index_of(DType::fp16)] = 1000;
  machine.engine.matmul_efficiency.fill(0.5);
  machine.host.node_clocks[index_of(KernelKind::linear)] = 0.4e9;
  machine.host.floor_hz = 1e8;
  KernelLoad product;
  product.kind = KernelKind::linear;
  product.dtype = DType::fp16;
  product.matrix_ops = 1e12;
  const NetworkLoad load = one_kernel(product, runtime);
  Conditions conditions = at_one_ghz(runtime);
  conditions.locked = false;
  const auto clock_at = [&](double target) {
    machine.host.target_load = target;
    return StepModel(load, machine).at(conditions).gpu_hz;
  };
  EXPECT_NEAR(clock_at(0.5), 0.5e9, 1e4);
  EXPECT_NEAR(clock_at(0.8), 0.125e9, 1e4);
  EXPECT_EQ(clock_at(0.2), 1e9);
  machine.host.floor_hz = 3e8;
  EXPECT_EQ(clock_at(0.8), 3e8);
  machine.host.untimed_s = 0.4;  // idle between nodes counts as the host does
  EXPECT_NEAR(clock_at(0.4), 0.375e9, 1e4);
  conditions.locked = true;
  EXPECT_EQ(clock_at(0.5), 1e9);
}

// The cores of a CPU do the work, at the clock of the fastest cluster.
TEST(Step, ACpuWorksWithItsCores) {
  Coefficients machine;
  machine.processor = Processor::cpu;
  machine.memory_bytes_per_s = 20e9;
  OperatingPoint point;
  point.cpu_hz = {1e9, 2e9};
  point.cpu_cores = 6;
  point.gpu_hz = 3e9;
  point.gpu_units = 16;
  const DevicePoint device = device_point(machine, point);
  EXPECT_EQ(device.units, 6);
  EXPECT_EQ(device.hz, 2e9);
  EXPECT_EQ(device.peak_bytes_per_s, 20e9);
  point.cpu_cores.reset();
  EXPECT_THROW(device_point(machine, point), Error);
}

}  // namespace
}  // namespace ridgeline::testing
