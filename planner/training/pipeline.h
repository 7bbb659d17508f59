// A training epoch with its input pipeline: loader processes fetch and decode while the device
// computes, and the slower of the two sets the pace. The time of a step is an input; storage and
// decoding are facts from the user or from a measurement.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/tokens.h"
#include "planner/training/dataset.h"
#include "planner/training/storage.h"

namespace ridgeline {

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

// Core clocks of PyTorch's image pipeline to decode and transform one encoded byte. From the stalls
// of published epochs (HiPC SRS 2021) without workers, on an SSD, less fetch and copy, for images
// of 121 kB: 218 on Xavier NX (18.7 ms at 1.42 GHz) and 241 on AGX Xavier (12.9 ms at 2.27 GHz).
constexpr double usual_decode_clocks_per_byte = 229;

// Memory that the page cache cannot use: 2.14 of the 8.59 GB of Xavier NX held samples in those
// epochs. Boards with less memory are assumed to keep the same share of it, a quarter.
constexpr double usual_memory_taken_bytes = 6.45e9;
constexpr double least_page_cache_share = 0.25;

// Memory of the page cache of a board with so much memory, if its own was never seen.
double usual_page_cache_bytes(double memory_bytes);

// What the training process does for each minibatch is that of PyTorch's loader in the same epochs
// with one worker, 12.8 ms on Xavier NX and 10.1 ms on AGX Xavier for 9.6 MB. A third of it does
// not depend on the size (timed on an x86 core: queue and unpickling beside copy and page faults).
// Decoding and queue are counted in clocks of one core, so they follow the CPU clock.
struct InputPipeline {
  FetchCost medium;
  double decode_clocks = 0;  // per sample
  int workers = 0;           // loader processes; 0: the training process itself loads
  int cores = 1;             // online
  double core_hz = 0;
  double host_s = 0;                          // core time of each step, beside the loaders
  double free_memory_bytes = 0;               // for the page cache
  double tensor_bytes = 3.0 * 224 * 224 * 4;  // of a sample as the network reads it
  double queue_clocks = 7.2e6;                // per minibatch, to take it from a worker
  double copy_bytes_per_s = 1.28e9;           // of its tensors, to the device
  // Of the device while loaders run: 1.03 to 1.11 on Xavier NX, 1.01 to 1.02 on AGX Xavier.
  double device_slowdown = 1.05;
};

// Time of a minibatch in which neither the device works nor a sample is missing: queue and copy.
double residual_s(const InputPipeline& pipeline, double minibatch);

struct Epoch {
  double time_s = 0;
  double device_s = 0;    // the device computes
  double stall_s = 0;     // the device does not work: the two below
  double wait_s = 0;      // for samples: the data stall
  double unhidden_s = 0;  // queue and copy of each minibatch, during which it rests
  double host_s = 0;      // of all cores: decoding, the process, queue and copy
  double read_bytes = 0;  // from storage
  double fetch_s = 0;     // of all samples by one reader, with hits of the page cache
  double decode_s = 0;    // of all samples by one core
  double hit_share = 0;
  TrainingBound bound = TrainingBound::device;
};

// One minibatch with its input; it takes device_s + waiting_s + residual_s.
struct LoadedMinibatch {
  double device_s = 0;
  double waiting_s = 0;   // for samples, or for a core
  double residual_s = 0;  // queue and copy
  double loading_s = 0;   // by all loaders together; without workers by the training process
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
