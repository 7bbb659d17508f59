// Measures a CUDA device: runs a plan through the sampler and turns the series into profile rows.
// Printing and storing are the command's business.
#pragma once

#include <optional>
#include <vector>

#include "base/profile.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"
#include "kernels/sampler.h"

namespace ridgeline::cuda {

// `cap_hz` is the clock that the present mode allows; absent where nobody knows. The mode itself is
// left to the caller. Where the device is lost or the user interrupts, the rows measured so far are
// there and conditions.complete is false.
ProfileMode measure(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                    std::optional<double> cap_hz, const SamplerWorld& world);

// Of the present mode's clock, below which a row counts as throttled.
inline constexpr double throttled_below_cap = 0.97;

}  // namespace ridgeline::cuda
