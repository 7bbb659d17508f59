// Voltage and memory clock of Jetsons. For a network that the GPU's arithmetic limits, the top
// clock is not the most efficient one on any of them: NVIDIA's MaxQ of TX2 (DRIVE OS 5.0 guide),
// its MaxQ submissions to MLPerf on Xavier and Orin, Pagoda on AGX Orin (arXiv 2509.20189).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "devices/modes/mode_grid.h"
#include "roofline/model/predict.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

struct Board {
  std::string id;
  OperatingPoint point;        // of the fastest stock mode
  std::vector<double> gpu_hz;  // ascending
  double memory_top_hz = 0;
};

// Boards whose clocks, SMs and bus the catalog has.
std::vector<Board> boards() {
  std::vector<Board> boards;
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (device.kind != catalog::Kind::jetson || !device.memory || !device.memory->bus_bits)
      continue;
    const catalog::Configuration& configuration = catalog::configuration(device);
    Board board{std::string(row.id), default_mode(device, configuration).point, {}, 0};
    for (const DeviceMode& mode : stock_modes(device, configuration))
      if (mode.point.gpu_units.value_or(0) >= board.point.gpu_units.value_or(0) &&
          mode.point.gpu_hz.value_or(0) > board.point.gpu_hz.value_or(0))
        board.point = mode.point;
    for (const catalog::ClockStep& step : configuration.gpu.steps) board.gpu_hz.push_back(step.hz);
    for (const catalog::ClockStep& step : configuration.memory.steps)
      board.memory_top_hz = std::max(board.memory_top_hz, step.hz);
    if (board.gpu_hz.size() < 2 || board.memory_top_hz <= 0) continue;
    board.point.memory_hz = board.memory_top_hz;
    boards.push_back(std::move(board));
  }
  return boards;
}

double energy_j(const StepModel& model, const OperatingPoint& point, Runtime runtime) {
  Conditions conditions;
  conditions.point = point;
  conditions.runtime = runtime;
  const Step step = model.at(conditions, false);
  return step.time_s * *step.power_w;
}

TEST(JetsonPower, TheTopGpuClockIsNotTheMostEfficientOne) {
  const std::vector<Board> all = boards();
  EXPECT_GE(all.size(), 10u);
  for (const Board& board : all)
    for (const Runtime runtime : {Runtime::torch_eager, Runtime::tensorrt}) {
      const NetworkLoad load = load_of("resnet50", runtime, 32);
      const StepModel model(load, coefficients(model_of(board.id), runtime));
      OperatingPoint point = board.point;
      double best_hz = 0, best_j = INFINITY, top_j = 0;
      for (const double hz : board.gpu_hz) {
        point.gpu_hz = hz;
        top_j = energy_j(model, point, runtime);
        if (top_j < best_j) best_hz = hz, best_j = top_j;
      }
      std::cout << board.id << " " << to_string(runtime) << ": best at " << best_hz / 1e6 << " of "
                << board.gpu_hz.back() / 1e6 << " MHz, top costs " << 100 * (top_j / best_j - 1)
                << " % more\n";
      EXPECT_LT(best_hz, board.gpu_hz.back()) << board.id << " " << to_string(runtime);
      if (board.gpu_hz.size() > 4) {  // more than the clocks of the stock modes
        EXPECT_GT(best_hz, board.gpu_hz.front()) << board.id << " " << to_string(runtime);
      }
    }
}

// A chip whose curve is published has a narrow one; the others say that nobody knows.
TEST(JetsonPower, VoltageThatNobodyPublishedIsWide) {
  const auto relative_sigma = [](const char* device, const char* name) {
    const MachineModel model = model_of(device);
    const auto index = find_parameter(model, name);
    return index ? sigma_of(model, *index) / model.parameters[*index].mean : -1;
  };
  for (const char* device :
       {"jetson-tx2", "jetson-agx-xavier", "jetson-xavier-nx", "jetson-agx-thor-t5000",
        "jetson-agx-orin-64gb", "jetson-orin-nano-8gb"}) {
    EXPECT_GT(relative_sigma(device, "gpu_voltage_floor_ratio"), 0.049) << device;
    EXPECT_GT(relative_sigma(device, "gpu_voltage_knee_hz"), 0.149) << device;
  }
  EXPECT_EQ(relative_sigma("a100-40gb-pcie", "gpu_voltage_floor_ratio"), 0);
}

// Modules of one chip share its voltage at equal clocks.
TEST(JetsonPower, ModulesOfOneChipShareItsVoltage) {
  const auto volt = [](const char* device, double hz) {
    return relative_voltage(coefficients(model_of(device), Runtime::tensorrt).power, hz);
  };
  for (const double hz : {510e6, 803.25e6, 1109.25e6})
    EXPECT_EQ(volt("jetson-xavier-nx", hz), volt("jetson-agx-xavier", hz));
  for (const double hz : {306e6, 612e6, 918e6})
    EXPECT_EQ(volt("jetson-orin-nano-8gb", hz), volt("jetson-agx-orin-64gb", hz));
}

// In proportion on Orin Nano and NX, whose rail keeps its voltage.
TEST(JetsonPower, IdlePowerRisesFasterThanTheMemoryClock) {
  for (const Board& board : boards()) {
    const Coefficients values = coefficients(model_of(board.id), Runtime::tensorrt);
    OperatingPoint point = board.point;
    const auto idle_w = [&](double share) {
      point.memory_hz = share * board.memory_top_hz;
      return constant_power(values, device_point(values, point), point, 0, 0);
    };
    const double low = idle_w(0.5), middle = idle_w(0.75), top = idle_w(1);
    EXPECT_LT(low, middle) << board.id;
    if (values.power.soc_voltage_floor < 1) {
      EXPECT_GT(top - middle, 1.5 * (middle - low)) << board.id;
    } else {
      EXPECT_NEAR(top - middle, middle - low, 1e-9) << board.id;
    }
  }
}

// NVIDIA's MaxQ submissions to MLPerf ran Xavier NX at 1331 or 1600 MHz, never at 1866.
TEST(JetsonPower, XavierNxIsMostEfficientBelowItsTopMemoryClock) {
  for (const auto& [name, options] : {std::pair("resnet50", ""), std::pair("ssd_mobilenet_v1", ""),
                                      std::pair("bert_large", "seq=384")}) {
    const NetworkLoad load = load_of(name, Runtime::tensorrt, 1, "int8", options);
    const StepModel model(load, coefficients(model_of("jetson-xavier-nx"), Runtime::tensorrt));
    OperatingPoint point = point_of("jetson-xavier-nx", "gpu=803.25MHz,cpu=1190.4MHz,cores=2");
    const auto joule = [&](double memory_hz) {
      point.memory_hz = memory_hz;
      return energy_j(model, point, Runtime::tensorrt);
    };
    EXPECT_LT(std::min(joule(1331.2e6), joule(1600e6)), 0.99 * joule(1866e6)) << name;
  }
}

// Idle boards in public logs of tegrastats: VDD_IN less VDD_CPU_GPU_CV is 2.1 to 2.2 W at 204 MHz
// and 3.1 W at 1600 MHz.
TEST(JetsonPower, MemoryClockOfAnIdleXavierNx) {
  const Coefficients values = coefficients(model_of("jetson-xavier-nx"), Runtime::tensorrt);
  OperatingPoint point = point_of("jetson-xavier-nx", "gpu=114.75MHz,cpu=1190.4MHz");
  const auto idle_w = [&](double memory_hz) {
    point.memory_hz = memory_hz;
    return constant_power(values, device_point(values, point), point, 0, 0);
  };
  EXPECT_NEAR(idle_w(1600e6) - idle_w(204e6), 1.0, 0.2);
}

// A plug meter reads the loss of the supply and the carrier beside the module.
TEST(JetsonPower, ThePlugReadsMoreThanTheModule) {
  for (const Board& board : boards()) {
    const NetworkLoad load = load_of("resnet50", Runtime::tensorrt, 8);
    const MachineModel model = model_of(board.id);
    Conditions conditions;
    conditions.point = board.point;
    conditions.runtime = Runtime::tensorrt;
    const Prediction module = predict(model, load, conditions);
    conditions.power_kind = PowerKind::wall;
    const Prediction wall = predict(model, load, conditions);
    const double offset_w = mean_of(model, "wall_offset_w"),
                 loss = mean_of(model, "wall_loss_share");
    EXPECT_NEAR(wall.power_w->value, module.power_w->value * (1 + loss) + offset_w, 1e-9)
        << board.id;
    EXPECT_EQ(wall.time_s.value, module.time_s.value);
    const auto width = [](const Estimate& power) { return power.high - power.low; };
    EXPECT_GT(width(*wall.power_w), width(*module.power_w)) << board.id;
  }
}

}  // namespace
}  // namespace ridgeline::testing
