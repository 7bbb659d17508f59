// Time to predict every mode of a device: the planner's sweep.
#include <benchmark/benchmark.h>

#include "devices/modes/mode_grid.h"
#include "roofline/model/step.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

void sweep_all_modes(benchmark::State& state, const char* network, Runtime runtime) {
  const catalog::Device device = catalog::load("jetson-agx-orin-64gb");
  const catalog::Configuration& configuration = catalog::configuration(device);
  const ModeGrid grid = full_grid(device, configuration);
  std::vector<OperatingPoint> points;
  for_each_mode(grid, [&](const GridIndex& index) {
    if (index.mask == 0) points.push_back(point_at(grid, index));
  });
  const NetworkLoad load = load_of(network, runtime);
  const Coefficients values = coefficients(model_of("jetson-agx-orin-64gb"), runtime);
  for (auto _ : state) {
    const StepModel model(load, values);
    Conditions conditions;
    conditions.runtime = runtime;
    double least = 1e300;
    for (const OperatingPoint& point : points) {
      conditions.point = point;
      const Step step = model.at(conditions, false);
      least = std::min(least, step.time_s * *step.power_w);
    }
    benchmark::DoNotOptimize(least);
  }
  state.counters["modes"] = static_cast<double>(points.size());
  state.counters["kernels"] = static_cast<double>(load.kernels.size());
}

BENCHMARK_CAPTURE(sweep_all_modes, resnet50_tensorrt, "resnet50", Runtime::tensorrt)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep_all_modes, resnet50_eager, "resnet50", Runtime::torch_eager)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep_all_modes, resnet18_eager, "resnet18", Runtime::torch_eager)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep_all_modes, mobilenet_v3_large_eager, "mobilenet_v3_large",
                  Runtime::torch_eager)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ridgeline::testing
