// A network of four kernels with its prediction and ceilings; all numbers are made up.
#pragma once

#include <vector>

#include "base/ceilings.h"
#include "base/demand.h"
#include "base/prediction.h"
#include "roofline/explain/explanation.h"

namespace ridgeline::testing {

inline Demand made_up_demand(const char* name, KernelKind kind, Unit unit, DType dtype, double flop,
                             double bytes) {
  Demand demand;
  demand.name = name;
  demand.kind = kind;
  if (flop > 0) add_flop(demand.work, unit, dtype, flop);
  demand.work.bytes_read = bytes;
  return demand;
}

inline std::vector<Demand> made_up_demands() {
  return {made_up_demand("conv", KernelKind::convolution, Unit::matrix, DType::fp16, 4e9, 4e6),
          made_up_demand("norm <&>", KernelKind::normalize, Unit::vector, DType::fp16, 1e6, 40e6),
          made_up_demand("copy", KernelKind::copy, Unit::vector, DType::fp16, 0, 10e6),
          made_up_demand("view", KernelKind::none, Unit::vector, DType::fp16, 0, 0)};
}

inline Ceilings made_up_ceilings() {
  Ceilings ceilings;
  ceilings.device = "example";
  ceilings.point.label = "30W";
  ceilings.point.gpu_hz = 612e6;
  ceilings.peaks = {
      {Processor::gpu, Unit::vector, DType::fp32, DType::fp32, 1e12, Source::datasheet},
      {Processor::gpu, Unit::vector, DType::fp16, DType::fp16, 2e12, Source::datasheet},
      {Processor::gpu, Unit::matrix, DType::tf32, DType::fp32, 4e12, Source::datasheet},
      {Processor::gpu, Unit::matrix, DType::fp16, DType::fp32, 8e12, Source::datasheet},
      {Processor::gpu, Unit::matrix, DType::fp16, DType::fp32, 16e12, Source::datasheet, true},
      {Processor::cpu, Unit::vector, DType::fp32, DType::fp32, 1e11, Source::datasheet}};
  ceilings.bandwidths = {{Processor::gpu, Level::dram, Direction::read, 200e9, Source::datasheet},
                         {Processor::gpu, Level::dram, Direction::read, 100e9, Source::fitted}};
  return ceilings;
}

// 1 ms compute, 0.5 ms memory, 0.2 ms host, nothing; 0.3 ms after the last kernel.
inline Prediction made_up_prediction(bool energy = true) {
  const auto estimate = [](double value) {
    return Estimate{value, value * 0.8, value * 1.5, Source::predicted};
  };
  Prediction prediction;
  prediction.device = "example";
  prediction.point = made_up_ceilings().point;
  prediction.runtime = Runtime::tensorrt;
  const auto add = [&](const char* name, double time_s, BoundBy bound, double memory_s) {
    PredictedDemand row;
    row.demand = name;
    row.time_s = estimate(time_s);
    if (energy) row.energy_j = estimate(time_s * 20);
    row.bound = bound;
    row.terms = {{"compute", time_s / 2, energy ? std::optional(time_s * 5) : std::nullopt},
                 {"memory", memory_s, energy ? std::optional(time_s * 2) : std::nullopt}};
    prediction.demands.push_back(std::move(row));
  };
  add("conv", 1e-3, BoundBy::compute, 40e-6);
  add("norm <&>", 0.5e-3, BoundBy::memory, 0.3e-3);  // 10 MB of 40 stay in the cache
  add("copy", 0.2e-3, BoundBy::host, 0.1e-3);
  add("view", 0, BoundBy::launch, 0);
  prediction.overheads = {{"graph launch", 0.3e-3, energy ? 3e-3 : 0}};
  prediction.time_s = estimate(2e-3);
  if (energy) {
    prediction.energy_j = estimate(37e-3);
    prediction.power_w = estimate(18.5);
  }
  prediction.bound = BoundBy::compute;
  return prediction;
}

inline Explanation made_up_explanation(bool energy = true) {
  ExplainedRun run;
  run.network = "net";
  run.machine = "Example board";
  run.batch = 8;
  run.dtype = DType::fp16;
  Explanation explanation =
      explain(made_up_prediction(energy), made_up_demands(), made_up_ceilings(), run);
  explanation.advice = {{"batch 16 instead of 8", 0.2, 0.25}};
  return explanation;
}

}  // namespace ridgeline::testing
