// A training epoch with its input pipeline: loader processes fetch and decode while the device
// computes, and the slower of the two sets the pace. Time of a step comes from the model of
// roofline/; storage and decoding are facts that the user or a measurement gives.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/tokens.h"
#include "planner/training/storage.h"

namespace ridgeline {

struct Dataset {
  double samples = 0;
  double bytes_per_sample = 0;
};

// What sets the pace of an epoch.
enum class TrainingBound { device, input, host };

template <>
struct TokenTable<TrainingBound> {
  static constexpr std::string_view noun = "bound of training";
  static constexpr std::array<std::pair<TrainingBound, std::string_view>, 3> rows{
      {{TrainingBound::device, "device"},
       {TrainingBound::input, "input"},
       {TrainingBound::host, "host"}}};
};

// What PyTorch's image pipeline takes to decode and transform, per encoded byte: 18.3 ms of a core
// at 1.42 GHz for images of 121 kB (Xavier NX, published epochs of HiPC SRS 2021, stall on the SSD
// less fetching and the residual).
constexpr double usual_decode_clocks_per_byte = 214;

// Memory that is not left for a page cache: of the same board's 8 GB, 2.14 GB held samples.
constexpr double usual_memory_taken_bytes = 5.9e9;

// Facts of the loaders. Residual and slowdown are of PyTorch's loader on Xavier boards (published
// epochs of HiPC SRS 2021); decoding is clocks of one core, so it follows the CPU clock.
struct InputPipeline {
  FetchCost medium;
  double decode_clocks = 0;  // of one sample
  int workers = 0;           // loader processes; 0: the training process loads by itself
  int cores = 1;             // online
  double core_hz = 0;
  double host_s = 0;              // of a core, that each step needs beside the loaders
  double free_memory_bytes = 0;   // for the page cache
  double residual_s = 12.8e-3;    // per minibatch: queue, collation, copy
  double device_slowdown = 1.03;  // of the device's work while loaders run
};

struct Epoch {
  double time_s = 0;
  double device_s = 0;  // the device's work
  double stall_s = 0;   // that the device waits for samples, the residual included
  double fetch_s = 0;   // of all samples by one reader, hits of the page cache included
  double decode_s = 0;  // of all samples by one core
  double hit_share = 0;
  TrainingBound bound = TrainingBound::device;
};

// One minibatch where loaders run beside the device: it takes device, waiting and residual.
struct LoadedStep {
  double device_s = 0;
  double waiting_s = 0;  // for samples, or for a core
  double loading_s = 0;  // by all loaders together; without workers by the process itself
};

LoadedStep loaded_step(const Dataset& dataset, double minibatch, double step_s,
                       const InputPipeline& pipeline, bool first);

// Share of samples that a page cache still holds when each epoch reads them in a new random order
// and the oldest are dropped first; `cached` is cache over dataset. Below 1 it is far less than the
// ratio: a sample survives only if the distinct ones read since then fit.
double random_order_hit_share(double cached);

// `step_s`: device and host of one training step without input; `first`: nothing is cached yet.
Epoch epoch(const Dataset& dataset, double minibatch, double step_s, const InputPipeline& pipeline,
            bool first);

// Fewest workers with which the device no longer waits beyond the residual, up to `most`; nullopt
// where none is enough.
std::optional<int> fewest_workers(const Dataset& dataset, double minibatch, double step_s,
                                  InputPipeline pipeline, bool first, int most);

// Lowest core clock at which the device does not wait, by the same test: decoding at that clock
// just keeps up. Nullopt where fetching alone is too slow.
std::optional<double> lowest_core_hz(const Dataset& dataset, double minibatch, double step_s,
                                     const InputPipeline& pipeline, bool first);

}  // namespace ridgeline
