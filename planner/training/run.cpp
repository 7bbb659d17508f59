// Energy of an epoch by parts: while the device waits, it idles at the clocks of the mode.
#include "planner/training/run.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {

InputPipeline pipeline_at(const TrainingRun& run, const BatchCost& cost,
                          const OperatingPoint& point) {
  InputPipeline pipeline = run.pipeline;
  pipeline.cores = std::max(1, point.cpu_cores.value_or(run.pipeline.cores));
  pipeline.core_hz = cost.core_hz;
  pipeline.host_s = cost.host_s;
  pipeline.medium.access_s *= cost.fetch_scale;
  pipeline.medium.bytes_per_s /= cost.fetch_scale;
  return pipeline;
}

TrainedEpoch trained_epoch(const TrainingRun& run, double minibatch, const BatchCost& cost,
                           const OperatingPoint& point, bool first) {
  const InputPipeline pipeline = pipeline_at(run, cost, point);
  TrainedEpoch result{epoch(run.dataset, minibatch, cost.time_s, pipeline, first), 0};
  const double copying_s =
      std::ceil(run.dataset.samples / minibatch) * residual_s(pipeline, minibatch);
  result.energy_j = result.device_s * cost.power_w + result.stall_s * cost.idle_w +
                    (copying_s + result.decode_s) * cost.core_w;
  return result;
}

Service training_service(const TrainingRun& run, double minibatch, const BatchCost& cost,
                         const OperatingPoint& point) {
  const TrainedEpoch later = trained_epoch(run, minibatch, cost, point, false);
  Service service;
  service.time_s = later.time_s;
  service.energy_j = later.energy_j;
  if (run.epochs) {
    const TrainedEpoch first = trained_epoch(run, minibatch, cost, point, true);
    const double share = 1 / *run.epochs;
    service.time_s = share * first.time_s + (1 - share) * later.time_s;
    service.energy_j = share * first.energy_j + (1 - share) * later.energy_j;
    service.run_s = *run.epochs * service.time_s;
  }
  service.latency_s = service.delay_s = service.time_s;
  service.sample_s = service.goal_s = service.time_s / run.dataset.samples;
  service.mean_power_w = service.energy_j / service.time_s;
  // All loaders may decode at once while the device works; cost.power_w has the core of the
  // process.
  const double cores = std::max(1, point.cpu_cores.value_or(run.pipeline.cores));
  const double loaders = std::min<double>(run.pipeline.workers, cores - 1);
  service.peak_power_w =
      std::max(cost.power_w + std::max(0.0, loaders) * cost.core_w, cost.idle_w + cost.core_w);
  return service;
}

}  // namespace ridgeline
