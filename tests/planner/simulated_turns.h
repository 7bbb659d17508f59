// Simulates training and inference in turns, event by event, with jittered requests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "planner/concurrent/interleaving.h"

namespace ridgeline::testing {

struct Simulated {
  double latency_s = 0;  // of 99.9 % of the requests
  double trainings_per_s = 0;
};

// Requests are periodic, each early or late by its own jitter. The scheduler uses the nominal
// times: a minibatch starts if it would end no later than `allowed_s` after the batch is due.
inline Simulated simulate(const InferenceStream& stream, const Turns& turns, double allowed_s,
                          std::uint64_t seed, int batches = 4000) {
  Random random{seed};
  const double period_s = 1 / stream.requests_per_s;
  std::vector<double> latencies;
  double now = 0;
  int trainings = 0;
  for (int batch = 0; batch < batches; ++batch) {
    double filled = 0;
    std::vector<double> arrivals;
    for (int i = 0; i < turns.batch; ++i) {
      const double due = (batch * turns.batch + i + 1) * period_s;
      arrivals.push_back(due + (2 * random.unit() - 1) * stream.jitter_s);
      filled = std::max(filled, arrivals.back());
    }
    const double due = (batch + 1) * turns.batch * period_s;
    // A batch that is already full goes first.
    while (now < filled && now + turns.training_s <= due + allowed_s) {
      now += turns.training_s;
      ++trainings;
    }
    now = std::max(now, filled) + turns.inference_s + turns.switch_s;
    for (const double arrival : arrivals) latencies.push_back(now - arrival);
  }
  std::sort(latencies.begin(), latencies.end());
  return {latencies[static_cast<std::size_t>(0.999 * static_cast<double>(latencies.size()))],
          trainings / now};
}

}  // namespace ridgeline::testing
