// What happens around a run on a GPU: other programs on it, its temperature, what held its clock
// down. Seen before the first kernel and after each reading; the warnings name what to do.
#pragma once

#include <functional>

#include "base/profile.h"
#include "devices/sensors/gpu_watch.h"

namespace ridgeline::cuda {

class Surroundings {
 public:
  using Look = std::function<GpuState()>;

  // Looks at once, before any kernel runs: what is busy then is not this run.
  explicit Surroundings(Look look);

  GpuState look();  // empty without instruments

  // Into the conditions of the profile, with warnings.
  void record(MeasuringConditions& conditions) const;

 private:
  Look look_;
  GpuConditions seen_;
  std::optional<double> first_over_currents_, last_over_currents_;
  std::uint64_t held_by_ = 0;
};

// Limits, as documented in docs/how-it-works.md. A desktop that draws nothing stays below the
// first; from the second on, rates are those of half a GPU.
inline constexpr double noticeable_load = 0.07;
inline constexpr double warm_c = 60;

}  // namespace ridgeline::cuda
