// What it costs to launch: the host's time for an empty kernel, three ways.
// A line through n = 1 … 4096 launches tells the cost of one from the cost of waiting.
#pragma once

#include <functional>
#include <vector>

#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"

namespace ridgeline::cuda {

// Seconds per launch, one value per repetition. `now_s` is the host's clock.
std::vector<double> probe_launch(Gpu& gpu, const Kernel& empty, LaunchKind kind, bool quick,
                                 const std::function<double()>& now_s);

}  // namespace ridgeline::cuda
