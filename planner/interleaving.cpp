// Window by window: after an inference batch, as many training minibatches start as end before the
// next batch may be late; how late it really starts carries over to the next window.
#include "planner/interleaving.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {
namespace {

// Windows until the share of each number of minibatches is known to a thousandth, where they do not
// repeat before.
constexpr int most_windows = 2048;

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

  // How long after a batch is due by the clock its inference may start. With a whole minibatch of
  // it the device never idles, and more is of no use.
  const double allowed_s = std::min(result.slack_s + stream.jitter_s, turns.training_s);
  double late_s = 0, latest_s = 0;
  double trainings = 0;
  if (turns.training_s > 0 && allowed_s >= turns.training_s) {
    latest_s = allowed_s;
    trainings = (window_s - busy_s) / turns.training_s;
    result.trainings_per_s = trainings / window_s;
  } else if (turns.training_s > 0) {
    int windows = 0;
    do {  // until a window starts as the first one did
      const double until_s = window_s - late_s - busy_s + allowed_s;
      const double started = std::max(0.0, std::floor(until_s / turns.training_s + 1e-9));
      trainings += started;
      late_s = std::max(0.0, late_s + busy_s + started * turns.training_s - window_s);
      latest_s = std::max(latest_s, late_s);
    } while (++windows < most_windows && late_s > 0);
    result.trainings_per_s = trainings / (windows * window_s);
  }
  result.latency_s = filling_s + busy_s + stream.jitter_s + std::max(latest_s, stream.jitter_s);
  const double training_share = result.trainings_per_s * turns.training_s;
  const double inference_share = busy_s / window_s;
  result.idle_share = std::max(0.0, 1 - training_share - inference_share);
  result.mean_w = training_share * turns.training_w + inference_share * turns.inference_w +
                  result.idle_share * turns.idle_w;
  result.peak_w = std::max(turns.inference_w, trainings > 0 ? turns.training_w : turns.idle_w);
  return result;
}

}  // namespace ridgeline
