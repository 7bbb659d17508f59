// Window by window: after an inference batch, as many training minibatches start as end before the
// next batch would be too late. How late it starts carries over to the next window.
#include "planner/concurrent/interleaving.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace ridgeline {
namespace {

// Enough windows for the number of minibatches per window to a thousandth, if they do not repeat
// earlier; with jitter they never repeat, and a hundredth is enough.
constexpr int most_windows = 2048;
constexpr int jittered_windows = 128;

// How early or late the last request of each window is, from −1 to 1. The same for all modes, so
// that they compare.
const std::array<double, jittered_windows>& lateness() {
  static const auto values = [] {
    std::array<double, jittered_windows> result{};
    Random random{1};
    for (double& value : result) value = 2 * random.unit() - 1;
    return result;
  }();
  return values;
}

// Minibatches per window, and how late an inference starts at most.
struct Started {
  double per_window = 0;
  double latest_s = 0;
};

Started run_windows(double window_s, double busy_s, double training_s, double allowed_s,
                    double jitter_s) {
  Started result;
  double late_s = 0, beyond_s = 0, trainings = 0;
  const int most = jitter_s > 0 ? jittered_windows : most_windows;
  int windows = 0;
  do {
    const double full_s = jitter_s > 0
                              ? window_s + jitter_s * lateness()[static_cast<std::size_t>(windows)]
                              : window_s;
    const double now_s = late_s + busy_s;
    // Only minibatches that end in time and start before the batch is full.
    const double in_time = std::floor((window_s + allowed_s - now_s) / training_s + 1e-9);
    const double wanted = std::ceil((full_s - now_s) / training_s - 1e-9);
    const double started = std::max(0.0, std::min(in_time, wanted));
    trainings += started;
    beyond_s = std::max(0.0, now_s + started * training_s - window_s);
    late_s = std::max(now_s + started * training_s, full_s) - window_s;
    result.latest_s = std::max(result.latest_s, late_s);
  } while (++windows < most && (jitter_s > 0 || late_s > 0));  // until one starts as the first did
  // What the last window runs beyond its end belongs to the next.
  result.per_window = std::max(0.0, trainings - beyond_s / training_s) / windows;
  return result;
}

}  // namespace

Interleaving interleave(const InferenceStream& stream, const Turns& turns, double latency_limit_s) {
  Interleaving result;
  const double window_s = turns.batch / stream.requests_per_s;
  const double busy_s = turns.inference_s + turns.switch_s;
  const double filling_s = (turns.batch - 1) / stream.requests_per_s;
  const double alone_s = filling_s + 2 * stream.jitter_s + busy_s;
  result.slack_s = latency_limit_s - alone_s;
  result.latency_s = alone_s;
  if (busy_s > window_s || result.slack_s < 0) return result;
  result.feasible = true;

  // How long after a batch is due its inference may start. With a whole minibatch beyond the jitter
  // the device never idles, so more does not help.
  const double enough_s = turns.training_s + stream.jitter_s;
  const double allowed_s = std::min(result.slack_s + stream.jitter_s, enough_s);
  Started started;
  if (turns.training_s > 0)
    started = allowed_s >= enough_s
                  ? Started{(window_s - busy_s) / turns.training_s, allowed_s}
                  : run_windows(window_s, busy_s, turns.training_s, allowed_s, stream.jitter_s);
  result.trainings_per_s = started.per_window / window_s;
  result.latency_s =
      filling_s + busy_s + stream.jitter_s + std::max(started.latest_s, stream.jitter_s);
  const double training_share = result.trainings_per_s * turns.training_s;
  const double inference_share = busy_s / window_s;
  result.idle_share = std::max(0.0, 1 - training_share - inference_share);
  result.mean_w = training_share * turns.training_w + inference_share * turns.inference_w +
                  result.idle_share * turns.idle_w;
  result.peak_w =
      std::max(turns.inference_w, started.per_window > 0 ? turns.training_w : turns.idle_w);
  return result;
}

}  // namespace ridgeline
