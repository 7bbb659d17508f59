// The machine around `measure`: its clock, its GPU, its knobs. This machine by default; a program
// that simulates a board puts its own in its place before it calls run_program.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "devices/control/world.h"
#include "kernels/cuda/gpu.h"
#include "kernels/sampler.h"

namespace ridgeline::cli {

struct MeasureWorld {
  std::function<double()> now_s;
  std::function<void(double seconds)> wait;
  std::function<std::shared_ptr<cuda::Gpu>()> open_gpu;
  std::function<std::string()> why_no_gpu;
  std::function<std::unique_ptr<control::World>()> open_control;
  std::function<OtherLoad()> other_load = {};  // empty: what /proc says of the measured CPUs
  std::function<double()> host_clock_hz = {};  // empty: probed
};

MeasureWorld& measure_world();

}  // namespace ridgeline::cli
