// What it costs to launch: the host's time for an empty kernel, three ways.
// A line through n = 1 … 4096 launches tells the cost of one from the cost of waiting.
#pragma once

#include <functional>
#include <vector>

#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"

namespace ridgeline::cuda {

// Seconds per launch, one value per repetition, by a thread that stays on its core. `now_s` is the
// host's clock; `between` is called now and then, on the same core, where nothing is timed.
std::vector<double> probe_launch(Gpu& gpu, const Kernel& empty, LaunchKind kind, bool quick,
                                 const std::function<double()>& now_s,
                                 const std::function<void()>& between = {});

}  // namespace ridgeline::cuda
