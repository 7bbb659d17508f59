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
  bool unsteady = false;  // too far off to be the rate of this machine; see run_verdict.h
};

// What the hardware allows: per hertz of the clock that was measured, or at any clock.
struct Theory {
  std::optional<double> per_hz = {};
  std::optional<double> rate = {};
};
Verdict judge(const SampleSeries& series, Theory theory);

// "fell by 40 %", "rose by 12 %", "rose to 3.2 times its first value": a change relative to what
// was there first, as drift() returns it.
std::string change_text(double change);

// Limits of the verdict, as documented in docs/how-it-works.md.
inline constexpr double impossible_above = 1.02;  // of theory, beyond both intervals: an error
inline constexpr double low_below = 0.85;         // of theory: a note
inline constexpr double noisy_above = 0.02;       // half of the interval, relative: a note
inline constexpr double very_noisy_above = 0.10;  // of the run, not only of too few readings
inline constexpr double drift_above = 0.05;       // last against first third: a note
inline constexpr std::size_t drift_readings = 6;  // thirds of fewer are single readings
inline constexpr double throttled_below = 0.95;   // clock, last against first third
// Of theory: a kernel this close to it, whose rate did not fall, was not slowed down. The clock is
// probed in 0.2 ms, and one interruption of the probe makes it look slow.
inline constexpr double unthrottled_above = 0.97;

}  // namespace ridgeline
