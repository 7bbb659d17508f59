// Samples are taken without recording, which makes every call longer; recorded steps come last and
// only divide the time up.
#include "execution/network_run.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/statistics.h"

namespace ridgeline {
namespace {

constexpr double sampled_share = 0.75;  // of the budget; the rest is for recorded steps
constexpr int most_recorded = 15;
constexpr double metered_s = 2;  // of power, after its readings have settled

void measure_power(Executable& network, const RunWorld& world, NetworkRun& run) {
  try {
    const auto metered = world.power->measure(
        [&](const std::function<void()>& look) {
          network.step();
          look();
          return 1.0;
        },
        metered_s);
    if (!metered) return;
    run.power_w = metered->power_w;
    const Estimate& power = *run.power_w;
    run.energy_j = Estimate{power.value * run.time_s.value, power.low * run.time_s.low,
                            power.high * run.time_s.high, Source::measured};
  } catch (const SensorError& error) {
    run.notes.push_back(std::string("power was not measured: ") + error.what());
  }
}

// Reading the clock leaves the network's processor idle: with a probe after every short step a
// governor may lower the clock that is measured.
std::function<double()> paused_clock(const RunWorld& world) {
  if (!world.clock_hz) return [] { return 0.0; };
  return [&world, next_s = world.sampler.now_s()]() mutable {
    const double now_s = world.sampler.now_s();
    if (now_s < next_s) return 0.0;  // not probed
    const double clock_hz = world.clock_hz();
    next_s = world.sampler.now_s() + world.clock_pause_s;
    return clock_hz;
  };
}

}  // namespace

std::vector<LayerTime> layer_times(const std::vector<RecordedStep>& steps,
                                   const std::vector<std::string>& layer_names) {
  using Key = std::pair<StepPhase, std::string>;
  std::vector<Key> order;
  std::map<Key, std::vector<double>> times;  // by step
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (const ExecutedCall& call : steps[step].calls) {
      if (call.depth > 0 || (call.layer == no_index && call.phase != StepPhase::update)) continue;
      const Key key{call.phase,
                    call.layer < layer_names.size() ? layer_names[call.layer] : call.name};
      auto [found, is_new] = times.try_emplace(key);
      if (is_new) order.push_back(key);
      found->second.resize(steps.size());
      found->second[step] += call.time_s;
    }
  std::vector<LayerTime> layers;
  for (const Key& key : order) layers.push_back({key.second, key.first, median(times.at(key))});
  return layers;
}

std::vector<OperatorTime> operator_times(const RecordedStep& step) {
  std::map<std::string, OperatorTime> by_name;
  for (const ExecutedCall& call : step.calls) {
    const bool is_ours = call.depth == 0 && call.phase != StepPhase::backward;
    if (is_ours && (call.layer != no_index || call.phase == StepPhase::update)) continue;
    OperatorTime& sum = by_name[call.name];
    sum.name = call.name;
    ++sum.calls;
    sum.self_s += std::max(0.0, call.self_s);
  }
  std::vector<OperatorTime> operators;
  for (auto& [name, time] : by_name) operators.push_back(std::move(time));
  std::ranges::stable_sort(
      operators, [](const OperatorTime& a, const OperatorTime& b) { return a.self_s > b.self_s; });
  return operators;
}

NetworkRun run_network(Executable& network, int threads, double budget_s, const RunWorld& world) {
  NetworkRun run;
  run.library = network.library();
  run.threads = threads;
  run.notes = network.notes();
  const std::function<double()> clock_hz = paused_clock(world);
  const Trial trial{"step", [&] {
                      const double begin_s = world.sampler.now_s();
                      const double cpu_begin_s = world.cpu_s ? world.cpu_s() : 0;
                      network.step();
                      const double time_s = world.sampler.now_s() - begin_s;
                      if (world.cpu_s) {
                        const double cpu_s = world.cpu_s() - cpu_begin_s;
                        run.cpu_s = std::min(run.cpu_s.value_or(cpu_s), cpu_s);
                      }
                      return Reading{1 / std::max(time_s, 1e-9), clock_hz()};
                    }};
  SamplerOptions options;
  options.budget_s = sampled_share * budget_s;
  options.keep_all = true;
  run.sampling = sample({trial}, options, world.sampler);
  const SampleSeries& series = run.sampling.series.front();
  if (series.rates.empty())
    throw Error({}, "interrupted before the first step had ended", {}, ExitCode::incomplete);
  std::vector<double> times;
  for (const double rate : series.rates) times.push_back(1 / rate);
  run.time_s = median_estimate(times, Source::measured);
  run.least_s = *std::ranges::min_element(times);
  if (!series.clocks.empty()) run.clock_hz = median_estimate(series.clocks, Source::measured);

  std::vector<RecordedStep> steps;
  const double begin_s = world.sampler.now_s();
  while (steps.empty() || (std::ssize(steps) < most_recorded && !world.sampler.interrupted() &&
                           world.sampler.now_s() - begin_s < (1 - sampled_share) * budget_s))
    steps.push_back(network.recorded_step());
  run.layers = layer_times(steps, network.layer_names());
  run.recorded_steps = static_cast<int>(steps.size());
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::ranges::nth_element(steps, middle, {}, &RecordedStep::time_s);
  run.recorded = std::move(*middle);
  run.operators = operator_times(run.recorded);
  if (world.power != nullptr && !world.sampler.interrupted()) measure_power(network, world, run);
  return run;
}

}  // namespace ridgeline
