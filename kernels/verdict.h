// What to think of a measured series: its estimate, its status, and a note where something is off.
// Shared by all backends; pure functions of numbers.
#pragma once

#include <optional>
#include <string>

#include "base/estimate.h"
#include "kernels/sampler.h"

namespace ridgeline {

struct Verdict {
  Status status = Status::ok;
  std::string note;              // empty when all is well
  std::optional<Estimate> rate;  // absent where nothing was measured
  std::optional<Estimate> clock_hz;
  std::optional<Estimate> theory;  // absent = unknown
  bool noisy = false, drifted = false;
};

// What the hardware allows: per hertz of the clock that was measured, or at any clock.
struct Theory {
  std::optional<double> per_hz = {};
  std::optional<double> rate = {};
};
Verdict judge(const SampleSeries& series, Theory theory);

// Limits of the verdict, as documented in docs/how-it-works.md.
inline constexpr double impossible_above = 1.02;  // of theory, beyond both intervals: an error
inline constexpr double low_below = 0.85;         // of theory: a note
inline constexpr double noisy_above = 0.02;       // half of the interval, relative: a note
inline constexpr double drift_above = 0.05;       // last against first third: a note
inline constexpr double throttled_below = 0.95;   // clock, last against first third

}  // namespace ridgeline
