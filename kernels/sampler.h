// The sampler: repeats trials in interleaved rounds until their medians are known well enough.
// It knows no hardware; every backend hands it trials, and tests hand it made-up ones.
#pragma once

#include <cstdint>
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

// Share of the measured processors' time that others used since the last call.
struct OtherLoad {
  double steal_fraction = 0;  // a hypervisor
  double other_fraction = 0;  // other processes
};

struct SamplerOptions {
  // For preparation, warm-up and rounds. Trials come in order of importance: those for which three
  // rounds would not fit any more are left out.
  double budget_s = 40;
  bool keep_all = false;  // all trials and three rounds in any case, for a handful of trials
  int min_rounds = 10;    // before a good interval may end the run
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
  bool warm_up = false;               // interrupted before its first round: of the warm-up instead
};

struct Sampling {
  std::vector<SampleSeries> series;  // one per trial; empty for those left out
  int rounds = 0;                    // that count
  int rejected_rounds = 0;
  bool disturbed = false;  // too few quiet rounds: disturbed ones had to be counted
  bool complete = true;    // false after an interruption
  OtherLoad load;          // mean over the rounds that count
  double watched_s = 0;    // time of all rounds, for which the load is known
  int left_out = 0;        // last trials, for which the budget was too short
};

Sampling sample(const std::vector<Trial>& trials, const SamplerOptions& options,
                const SamplerWorld& world);

// A trial that must run alone, such as a step of the latency ladder.
struct LoneTrial {
  Trial trial;
  double size = 0;   // what the time of its preparation grows with, for example bytes
  bool runs = true;  // false: it cannot run here and takes no time
  std::function<void()> prepare = {}, release = {};  // what it needs; may be empty
};

// Runs them one by one in ascending size and shares the budget out among them. The first one whose
// preparation would not fit, judged by that of the one before, ends the run: it and those after it
// have series without readings. One Sampling per trial.
std::vector<Sampling> sample_alone(const std::vector<LoneTrial>& trials,
                                   const SamplerOptions& options, const SamplerWorld& world);

// Parts of a run that are judged as one: their load is averaged over time, since the system counts
// in ticks of 10 ms and a part may be shorter than a few of them.
Sampling joined(const std::vector<Sampling>& parts);

// Change from the first to the last third of a series, relative to the first: −0.4 = fell by 40 %.
double drift(const std::vector<double>& values);

}  // namespace ridgeline
