// A training epoch with its input pipeline: loader processes fetch and decode while the device
// computes, and the slower of the two sets the pace. The time of a step is an input; storage and
// decoding are facts from the user or from a measurement.
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

// Core clocks of PyTorch's image pipeline to decode and transform one encoded byte: 18.3 ms at
// 1.42 GHz for images of 121 kB (Xavier NX, published epochs of HiPC SRS 2021: the stall on the SSD
// less fetching and the residual).
constexpr double usual_decode_clocks_per_byte = 214;

// Memory that the page cache cannot use: on the same board 2.14 GB of 8 GB held samples.
constexpr double usual_memory_taken_bytes = 5.9e9;

// Residual and slowdown are those of PyTorch's loader on Xavier boards (published epochs of HiPC
// SRS 2021). Decoding is counted in clocks of one core, so it follows the CPU clock.
struct InputPipeline {
  FetchCost medium;
  double decode_clocks = 0;  // per sample
  int workers = 0;           // loader processes; 0: the training process itself loads
  int cores = 1;             // online
  double core_hz = 0;
  double host_s = 0;              // core time of each step, beside the loaders
  double free_memory_bytes = 0;   // for the page cache
  double residual_s = 12.8e-3;    // per minibatch: queue, collation, copy
  double device_slowdown = 1.03;  // of the device while loaders run
};

struct Epoch {
  double time_s = 0;
  double device_s = 0;  // the device computes
  double stall_s = 0;   // the device waits for samples, with the residual
  double fetch_s = 0;   // of all samples by one reader, with hits of the page cache
  double decode_s = 0;  // of all samples by one core
  double hit_share = 0;
  TrainingBound bound = TrainingBound::device;
};

// One minibatch with its input; it takes device_s + waiting_s + the residual.
struct LoadedMinibatch {
  double device_s = 0;
  double waiting_s = 0;  // for samples, or for a core
  double loading_s = 0;  // by all loaders together; without workers by the training process
};

LoadedMinibatch loaded_minibatch(const Dataset& dataset, double minibatch, double step_s,
                                 const InputPipeline& pipeline, bool first);

// Share of samples that a page cache still holds if each epoch reads them in a new random order and
// the oldest are dropped first; `cached` is the size of the cache over that of the dataset. Below 1
// the share is far less than the ratio: a sample survives only if all others read since then fit.
double random_order_hit_share(double cached);

// `step_s`: one training step without input; `first`: nothing is cached yet.
Epoch epoch(const Dataset& dataset, double minibatch, double step_s, const InputPipeline& pipeline,
            bool first);

// Fewest workers with which the device waits for the residual only; nullopt if `most` are too few.
std::optional<int> fewest_workers(const Dataset& dataset, double minibatch, double step_s,
                                  InputPipeline pipeline, bool first, int most);

// Lowest core clock at which decoding keeps up, by the same test. Nullopt if fetching alone is too
// slow.
std::optional<double> lowest_core_hz(const Dataset& dataset, double minibatch, double step_s,
                                     const InputPipeline& pipeline, bool first);

}  // namespace ridgeline
