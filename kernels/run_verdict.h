// What to think of a run as a whole: quiet, or so disturbed that its rates are not those of the
// machine. Pure functions of conditions and rows; single rows are judged in verdict.h.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"

namespace ridgeline {

RunVerdict judge_run(const ProfileMode& mode);

// Marks sweep rows that stand above their roof as impossible, with a note. For disturbed runs: in
// a quiet one a point above the roof is a finding about the kernel.
void mark_sweep_above_roof(ProfileMode& mode);

// Adds warnings about what surrounded the run: other load, a hypervisor, a quota, a governor.
// `busiest` names the process that used most CPU time ("" = none stood out); `quota` is the CPU
// time that the process may use, in cores.
void warn_of_surroundings(const std::string& busiest, std::optional<double> quota, int cores,
                          MeasuringConditions& conditions);

// Limits, as documented in docs/how-it-works.md.

// Shares of the measured cores' time, where most rounds had foreign load. Below them the medians
// hold: on two cores a tenth of the time touches a fifth of the windows, and a median stands until
// half of them are touched. The sampler's own limits are far lower (0.5 % steal, 2 % other load):
// an ordinary shared virtual machine passes them now and then and is still worth measuring.
inline constexpr double disturbing_other = 0.10;
inline constexpr double disturbing_steal = 0.05;
inline constexpr double disturbing_gpu_load = 0.2;  // by others, before the first kernel
// Share of rows that are unsteady: drifted or throttled, impossible or known to no better than 10
// %. A noisy neighbour moves a few memory rows; a third of all rows is the machine.
inline constexpr double unsteady_share = 1.0 / 3;
inline constexpr int least_judged = 6;  // rows; a share of fewer says nothing
// A sweep point above its roof by more than this, beyond both intervals. Kernels differ by a few
// percent in how well they prefetch, so one point or a few percent do not contradict it.
inline constexpr double sweep_above_roof = 1.10;
inline constexpr int least_sweep_points = 2;

}  // namespace ridgeline
