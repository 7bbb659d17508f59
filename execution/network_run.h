// Runs an Executable as often as it takes: warm-up, samples with an interval, recorded steps for
// the times of layers and operators, power where a sensor is. Measures only; what the times should
// be is predicted elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/estimate.h"
#include "execution/executable.h"
#include "kernels/power_meter.h"
#include "kernels/sampler.h"

namespace ridgeline {

// Of one step, as recorded: the median over recorded steps.
struct LayerTime {
  std::string name;
  StepPhase phase = StepPhase::forward;
  double time_s = 0;

  friend bool operator==(const LayerTime&, const LayerTime&) = default;
};

// Of the library, in one recorded step.
struct OperatorTime {
  std::string name;
  std::int64_t calls = 0;
  double self_s = 0;

  friend bool operator==(const OperatorTime&, const OperatorTime&) = default;
};

struct NetworkRun {
  std::string library;
  int threads = 1;
  Estimate time_s;     // of one step, without recording
  double least_s = 0;  // the fastest sample
  // CPU time of a step in all threads, the least: what others take away does not count.
  std::optional<double> cpu_s;
  Sampling sampling;                 // rounds, rejected ones, load of others; one series
  std::optional<Estimate> clock_hz;  // of a core, right after a step
  std::optional<Estimate> power_w, energy_j;
  std::vector<LayerTime> layers;        // in the order of execution
  std::vector<OperatorTime> operators;  // the longest first
  int recorded_steps = 0;
  RecordedStep recorded;  // the one of median length
  std::vector<std::string> notes;
};

struct RunWorld {
  SamplerWorld sampler;
  std::function<double()> clock_hz = {};  // after a step; empty: not probed
  double clock_pause_s = 0;               // at least this long between two probes
  std::function<double()> cpu_s = {};     // used by this process so far; empty: not read
  PowerMeter* power = nullptr;
};

// At least three samples and one recorded step, whatever the budget. An Error where a step fails or
// the first one is interrupted.
NetworkRun run_network(Executable& network, int threads, double budget_s, const RunWorld& world);

// Times of layers over several recorded steps of the same network: medians.
std::vector<LayerTime> layer_times(const std::vector<RecordedStep>& steps,
                                   const std::vector<std::string>& layer_names);

std::vector<OperatorTime> operator_times(const RecordedStep& step);

}  // namespace ridgeline
