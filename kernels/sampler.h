// The sampler: repeats trials in interleaved rounds until their medians are known well enough.
// It knows no hardware; every backend hands it trials, and tests hand it made-up ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/estimate.h"

namespace ridgeline {

// One run of a trial.
struct Reading {
  double rate = 0;      // work per second
  double clock_hz = 0;  // probed under the same load; 0 = not probed
};

struct Trial {
  std::string name;
  std::function<Reading()> run;
};

// What others took of the measured processors since the question was last asked.
struct OtherLoad {
  double steal_fraction = 0;  // a hypervisor
  double other_fraction = 0;  // other processes
};

struct SamplerOptions {
  double budget_s = 40;  // for warm-up and at least three rounds
  int min_rounds = 10;   // before a good interval may end the run
  int max_rounds = 400;
  double good_half_width = 0.002;  // relative standard error of every median that ends the run
  double load_window_s = 1;  // rounds of this time are judged together: the system counts in ticks
  double max_steal = 0.005;  // a round above either limit is rejected
  double max_other = 0.02;
  double warm_up_s = 0.2;        // at most, for each trial
  double warm_up_spread = 0.03;  // of the last runs, that ends the warm-up
  std::uint64_t seed = 1;
};

// The outside world, one function each.
struct SamplerWorld {
  std::function<double()> now_s;                             // monotonic
  std::function<OtherLoad()> other_load;                     // since the last call
  std::function<bool()> interrupted;                         // Ctrl-C
  std::function<void(double done, double left_s)> progress;  // fraction done, time left
};

struct SampleSeries {
  std::vector<double> rates, clocks;  // of the rounds that count, in order
};

struct Sampling {
  std::vector<SampleSeries> series;  // one per trial
  int rounds = 0;                    // that count
  int rejected_rounds = 0;
  bool disturbed = false;  // too few quiet rounds: disturbed ones had to be counted
  bool complete = true;    // false after an interruption
  OtherLoad load;          // mean over the rounds that count
};

Sampling sample(const std::vector<Trial>& trials, const SamplerOptions& options,
                const SamplerWorld& world);

// First against last third of a series, relative to its median: how far the machine drifted.
double drift(const std::vector<double>& values);

}  // namespace ridgeline
