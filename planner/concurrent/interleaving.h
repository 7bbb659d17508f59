// Training and inference on one device in turns: whole training minibatches run while an inference
// batch fills, and a minibatch starts only if it ends early enough for the batch's latency.
// Scheduling only; durations are inputs.
#pragma once

namespace ridgeline {

struct InferenceStream {
  double requests_per_s = 0;
  double jitter_s = 0;  // how early or late a request may be
};

// Durations and powers of one inference batch and one training minibatch in one mode.
struct Turns {
  int batch = 1;
  double inference_s = 0;
  double training_s = 0;
  double switch_s = 0;  // from one to the other and back, per inference batch
  double inference_w = 0;
  double training_w = 0;
  double idle_w = 0;
};

struct Interleaving {
  bool feasible = false;  // batches keep up with the requests, and the latency can be met
  double latency_s = 0;   // that no request exceeds, with jitter
  double trainings_per_s = 0;
  double idle_share = 0;
  double mean_w = 0;
  double peak_w = 0;
  double slack_s = 0;  // the latency limit less the latency without training
};

// Best turns under a latency limit. Exact without jitter; with jitter a simulation of windows, the
// same windows for all turns.
Interleaving interleave(const InferenceStream& stream, const Turns& turns, double latency_limit_s);

}  // namespace ridgeline
