// Measures a CUDA device: runs a plan through the sampler and turns the series into profile rows.
// It neither prints nor stores.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/profile.h"
#include "devices/sensors/gpu_watch.h"
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/plan.h"
#include "kernels/power_meter.h"
#include "kernels/sampler.h"

namespace ridgeline::cuda {

// What else is known of the device and can be read beside it; each may be missing.
struct Instruments {
  std::optional<double> cap_hz = {};                     // the clock that the present mode allows
  std::function<std::uint64_t()> throttle_reasons = {};  // that hold the clock down (NVML's bits)
  std::function<double()> host_clock_hz = {};            // of the core that launches
  std::function<GpuState()> look = {};                   // at temperature, clocks, load
  PowerMeter* power = nullptr;
  bool clocks_held = false;  // pauses do not lower the clocks
};

// The mode itself is left to the caller, and so is the fit of energies. Where the device is lost or
// the user interrupts, the rows measured so far are there and conditions.complete is false.
ProfileMode measure(Gpu& gpu, const std::vector<PlannedTrial>& plan, const MeasureOptions& options,
                    const Instruments& instruments, const SamplerWorld& world);

// Of the present mode's clock, below which a row counts as throttled.
inline constexpr double throttled_below_cap = 0.97;

}  // namespace ridgeline::cuda
