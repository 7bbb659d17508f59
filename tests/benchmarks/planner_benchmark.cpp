// Time of a plan: the sweep of one batch over all modes, and a whole plan with draws for four
// batches under two limits.
#include <benchmark/benchmark.h>

#include "tests/planner/planned.h"

namespace ridgeline::testing {
namespace {

CandidateOptions one_mask() {
  CandidateOptions candidates;
  candidates.filter = parse_mode_filter("sm=max");
  return candidates;
}

void plan_sweep(benchmark::State& state) {
  const Planned planned("jetson-agx-orin-64gb", "resnet50", Runtime::torch_eager, {1}, "",
                        one_mask());
  for (auto _ : state) benchmark::DoNotOptimize(sweep(planned.problem));
  state.counters["modes"] = static_cast<double>(planned.problem.candidates.modes.size());
  state.counters["kernels"] =
      static_cast<double>(planned.problem.variants.front().load->kernels.size());
}

void plan_with_draws(benchmark::State& state) {
  const Planned planned("jetson-agx-orin-64gb", "resnet50", Runtime::torch_eager, {1, 2, 4, 8}, "",
                        one_mask());
  const Objective objective =
      least(Goal::energy, {{LimitKind::latency, 0.05, 0, ""}, {LimitKind::power, 25, 0, ""}});
  for (auto _ : state) benchmark::DoNotOptimize(planned.plan(objective));
  state.counters["modes"] = static_cast<double>(planned.problem.candidates.modes.size());
}

BENCHMARK(plan_sweep)->Unit(benchmark::kMillisecond);
BENCHMARK(plan_with_draws)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace ridgeline::testing
