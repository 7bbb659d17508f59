// One small value of each noun between measurement and prediction, every field filled.
// Numbers are made up.
#pragma once

#include "base/ceilings.h"
#include "base/demand.h"
#include "base/machine_model.h"
#include "base/mode_request.h"
#include "base/prediction.h"

namespace ridgeline::testing {

inline OperatingPoint sample_point() { return {"30W", 8, 612e6, 2133e6, {1.2e9}, 4, 30.0}; }

inline Observation sample_observation() {
  Observation observation;
  observation.device = "example";
  observation.network = "resnet50";
  observation.options = "image=224";
  observation.batch = 8;
  observation.dtype = DType::fp16;
  observation.conditions = {sample_point(), Runtime::tensorrt, false, PowerKind::board};
  observation.time_s = 0.012;
  observation.power_w = 21.5;
  return observation;
}

inline MachineModel sample_model() {
  return {
      "example",
      {{"gpu_matmul_fp16_efficiency", 0.5, Source::fitted, PriorValue{0.6, 0.2, Source::datasheet}},
       {"cuda_graph_s", 5e-6, Source::assumed}},
      {0.01, -1e-8, -1e-8, 1e-12},
      {sample_observation()}};
}

inline Ceilings sample_ceilings() {
  return {"example",
          sample_point(),
          {{Processor::gpu, Unit::matrix, DType::fp16, DType::fp32, 1e13, Source::datasheet}},
          {{Processor::gpu, Level::dram, Direction::read, 1.2e11, Source::fitted}},
          {{Processor::gpu, 5e-6, Source::assumed}},
          ConstantPower{6.6, Source::measured},
          ConstantPower{12.5, Source::fitted},
          {{Processor::gpu, Unit::matrix, DType::fp16, 9e-13, Source::fitted}},
          {{Processor::gpu, Level::dram, 5e-11, Source::fitted}}};
}

inline Demand sample_demand() {
  Demand demand;
  demand.name = "conv1+relu";
  demand.kind = KernelKind::depthwise;
  demand.trait = KernelTrait::deformable;
  add_flop(demand.work, Unit::matrix, DType::fp16, 2e9);
  add_flop(demand.work, Unit::vector, DType::fp16, 1e6);
  demand.work.macs = 3;
  demand.work.transcendentals = 4;
  demand.work.bytes_read = 5e6;
  demand.work.bytes_written = 6e6;
  demand.work.weight_bytes_read = 7e5;
  demand.work.weight_bytes_written = 8;
  demand.gemm = Gemm{12544, 64, 147, 1, 49};
  demand.reads = {{"image", 5e6, ""}, {"skip", 1e6, "conv0"}};
  demand.writes = {{"features", 6e6, "conv1+relu"}};
  demand.launches = 2;
  demand.host_calls = {3, 1};
  demand.source_layers = {"conv1", "relu"};
  return demand;
}

inline Prediction sample_prediction() {
  const auto estimate = [](double value) {
    return Estimate{value, value / 2, value * 2, Source::predicted};
  };
  Prediction prediction;
  prediction.device = "example";
  prediction.point = sample_point();
  prediction.runtime = Runtime::torch_eager_hooks;
  prediction.demands = {{"conv1+relu",
                         estimate(0.002),
                         estimate(0.02),
                         estimate(10),
                         BoundBy::compute,
                         {{"fp16 matrix", 0.002, 0.015}, {"DRAM read", 0.001, std::nullopt}}},
                        {"fc", estimate(0.003), estimate(0.03), estimate(10), BoundBy::launch, {}}};
  prediction.overheads = {{"graph launch", 0.001, 0.01}};
  prediction.time_s = estimate(0.006);
  prediction.energy_j = estimate(0.06);
  prediction.power_w = estimate(10);
  prediction.bound = BoundBy::host;
  return prediction;
}

}  // namespace ridgeline::testing
