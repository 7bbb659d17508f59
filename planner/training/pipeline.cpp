// A minibatch takes as long as the slower of loading (fetch + decode) and the training process, and
// the page cache serves part of the later epochs, as in Prashanthi et al., HiPC SRS 2021; parallel
// loading and the residual are fitted to the epochs published there (docs/planning.md says from
// which rows).
#include "planner/training/pipeline.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {
namespace {

// Time to load one minibatch: readers share all but what the medium serialises, and there are no
// more readers than cores.
struct Loading {
  double serial_s = 0;
  double parallel_s = 0;

  double with(int workers, int cores) const {
    const int readers = std::max(1, std::min(workers, cores));
    return serial_s + parallel_s / readers;
  }
};

double cache_hits(const Dataset& dataset, const InputPipeline& pipeline, bool first) {
  if (dataset.in_memory) return 1;
  const double bytes = dataset.samples * dataset.bytes_per_sample;
  if (first || bytes <= 0) return 0;
  return random_order_hit_share(pipeline.free_memory_bytes / bytes);
}

double decode_s(const InputPipeline& pipeline, double minibatch) {
  return pipeline.core_hz > 0 ? pipeline.decode_clocks / pipeline.core_hz * minibatch : 0;
}

Loading minibatch_loading(const Dataset& dataset, double minibatch, const InputPipeline& pipeline,
                          double hit_share) {
  const double miss_s =
      (1 - hit_share) * fetch_s(pipeline.medium, dataset.bytes_per_sample) * minibatch;
  const double hit_s = hit_share * fetch_s(cached_fetch, dataset.bytes_per_sample) * minibatch;
  const double serial_s = pipeline.medium.serial_share * miss_s;
  return {serial_s, miss_s - serial_s + hit_s + decode_s(pipeline, minibatch)};
}

}  // namespace

double usual_page_cache_bytes(double memory_bytes) {
  return std::max(least_page_cache_share * memory_bytes, memory_bytes - usual_memory_taken_bytes);
}

double residual_s(const InputPipeline& pipeline, double minibatch) {
  const double copy_s = minibatch * pipeline.tensor_bytes / pipeline.copy_bytes_per_s;
  if (pipeline.workers <= 0 || pipeline.core_hz <= 0) return copy_s;
  return copy_s + pipeline.queue_clocks / pipeline.core_hz;
}

double random_order_hit_share(double cached) {
  if (cached >= 1) return 1;
  if (cached <= 0) return 0;
  // A sample at place u of one epoch and v of the next has 1 − u(1 − v) of the set read between;
  // u and 1 − v are uniform.
  const double missing = 1 - cached;
  return 1 - missing * (1 - std::log(missing));
}

LoadedMinibatch loaded_minibatch(const Dataset& dataset, double minibatch, double step_s,
                                 const InputPipeline& pipeline, bool first) {
  const Loading loading =
      minibatch_loading(dataset, minibatch, pipeline, cache_hits(dataset, pipeline, first));
  LoadedMinibatch step;
  step.loading_s = loading.with(pipeline.workers, pipeline.cores);
  step.residual_s = residual_s(pipeline, minibatch);
  if (pipeline.workers <= 0) {  // one process loads, then computes
    step.device_s = step_s;
    step.waiting_s = step.loading_s;
    return step;
  }
  step.device_s = step_s * pipeline.device_slowdown;
  // Workers load while the training process computes, and also while it takes and copies a
  // minibatch: the slower side sets the pace. All work of the cores takes at least cores_s.
  const double cores_s =
      (pipeline.host_s + step.residual_s + decode_s(pipeline, minibatch)) / pipeline.cores;
  const double process_s = step.device_s + step.residual_s;
  step.waiting_s = std::max({0.0, step.loading_s - process_s, cores_s - process_s});
  return step;
}

Epoch epoch(const Dataset& dataset, double minibatch, double step_s, const InputPipeline& pipeline,
            bool first) {
  Epoch result;
  const double steps = std::ceil(dataset.samples / minibatch);
  result.hit_share = cache_hits(dataset, pipeline, first);
  const Loading loading = minibatch_loading(dataset, minibatch, pipeline, result.hit_share);
  result.decode_s = steps * decode_s(pipeline, minibatch);
  result.fetch_s = steps * (loading.serial_s + loading.parallel_s) - result.decode_s;
  const LoadedMinibatch step = loaded_minibatch(dataset, minibatch, step_s, pipeline, first);
  result.device_s = steps * step.device_s;
  result.wait_s = steps * step.waiting_s;
  result.unhidden_s = steps * step.residual_s;
  result.stall_s = result.wait_s + result.unhidden_s;
  result.host_s = result.decode_s + result.unhidden_s + steps * pipeline.host_s;
  if (!dataset.in_memory)
    result.read_bytes = (1 - result.hit_share) * dataset.samples * dataset.bytes_per_sample;
  const bool is_input =
      pipeline.workers > 0 ? step.waiting_s > 0 : result.stall_s > result.device_s;
  if (is_input)
    result.bound = TrainingBound::input;
  else if (step.residual_s > step.device_s)
    result.bound = TrainingBound::host;
  result.time_s = result.device_s + result.stall_s;
  return result;
}

std::optional<int> fewest_workers(const Dataset& dataset, double minibatch, double step_s,
                                  InputPipeline pipeline, bool first, int most) {
  for (int workers = 1; workers <= most; ++workers) {
    pipeline.workers = workers;
    if (epoch(dataset, minibatch, step_s, pipeline, first).bound != TrainingBound::input)
      return workers;
  }
  return std::nullopt;
}

std::optional<double> lowest_core_hz(const Dataset& dataset, double minibatch, double step_s,
                                     const InputPipeline& pipeline, bool first) {
  const double hits = cache_hits(dataset, pipeline, first);
  InputPipeline without = pipeline;
  without.decode_clocks = 0;
  const int workers = std::max(1, pipeline.workers);
  const double fetching =
      minibatch_loading(dataset, minibatch, without, hits).with(workers, pipeline.cores);
  const double copy_s = minibatch * pipeline.tensor_bytes / pipeline.copy_bytes_per_s;
  // Workers decode while the process computes, copies and works on the queue, which takes longer
  // at a lower clock, too.
  const double room_s = step_s * pipeline.device_slowdown + copy_s - fetching;
  if (room_s <= 0) return std::nullopt;
  const int readers = std::max(1, std::min(workers, pipeline.cores));
  const double decode_clocks = pipeline.decode_clocks * minibatch;
  const double reader_clocks = std::max(0.0, decode_clocks / readers - pipeline.queue_clocks);
  // All cores must do all work within the step and its residual: the process, which runs at the
  // same clock, its own queue and copy, and decoding. With n cores the queue's clocks count on one
  // side once and on the other n times.
  const double others = pipeline.cores - 1;
  const double process_clocks = pipeline.host_s * pipeline.core_hz;
  const double cores_room_s = pipeline.cores * step_s * pipeline.device_slowdown + others * copy_s;
  return std::max(reader_clocks / room_s,
                  (process_clocks + decode_clocks - others * pipeline.queue_clocks) / cores_room_s);
}

}  // namespace ridgeline
