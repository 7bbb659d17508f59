// What running in one mode costs (BatchCost) and what a user gets for it (Service): the quantities
// that goals and limits are about.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/goal.h"

namespace ridgeline {

// One batch at one operating point. NaN: no power is known.
struct BatchCost {
  double time_s = 0;
  double power_w = 0;  // while it runs
  double idle_w = 0;   // between two batches, in the same mode
  // For the input pipeline of training.
  double host_s = 0;       // core time of the runtime itself
  double core_hz = 0;      // of that core
  double core_w = 0;       // for each further busy core
  double fetch_scale = 1;  // of a draw: how much slower the storage is than its kind
  // Of a request to a language model: its prompt, and each token that it generates.
  double first_token_s = 0;
  double token_s = 0;
  double token_w = 0;
  // One step of the network that is trained beside it.
  double training_s = 0;
  double training_w = 0;
  double training_host_s = 0;
};

// Work of the CPU around each sample (decoding, resizing, drawing boxes), and cores that other
// programs keep busy.
struct HostWork {
  double clocks_per_sample = 0;  // of one core
  bool pipelined = false;        // beside the device's work on another batch, on a second core
  int reserved_cores = 0;        // taken as busy all the time

  bool is_given() const { return clocks_per_sample > 0 || reserved_cores > 0; }
};

// Makes one cost of a request from those of its prompt and of each of its tokens.
void add_generation(BatchCost& prompt, const BatchCost& token, double tokens);

// Inference: of one batch, energy per sample. Training: of a mean epoch, and its energy. Training
// beside inference: of one training step, energy per trained sample.
struct Service {
  double time_s =
      0;  // of a batch with its host work, of an epoch, or from one training step to the next
  double latency_s = 0;     // from a sample to its result; of training the epoch
  double delay_s = 0;       // for fronts and energy × delay
  double goal_s = 0;        // that Goal::time minimises
  double sample_s = 0;      // time per sample; per trained sample beside inference
  double run_s = 0;         // of all epochs together
  double energy_j = 0;      // with idle time
  double mean_power_w = 0;  //
  double peak_power_w = 0;  // while a batch runs
};

// `cores`: online in the mode; pipelined host work needs two.
Service inference_service(const BatchCost& cost, std::int64_t batch, const Objective& objective,
                          const HostWork& host = {}, int cores = 2);

// From the begin of a batch to its results, with its host work.
double batch_span_s(const BatchCost& cost, std::int64_t batch, const HostWork& host);

// The quantity that a limit bounds; `slowdown` is against the fastest mode for the same batch.
double limited_value(LimitKind kind, const Service& service, double slowdown);

// The quantity that a goal minimises.
double score_of(Goal goal, const Service& service);

// Nullopt if the value is unknown (NaN) or never reached (infinite).
std::optional<double> finite(double value);

}  // namespace ridgeline
