// Runs one kernel on a team for one timed window, and probes the clock right after it.
// What to run and how often is decided elsewhere; nothing here repeats or averages.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/team.h"

namespace ridgeline::cpu {

// Arguments of a kernel's body for one thread.
struct ThreadData {
  void* data = nullptr;
  std::uint64_t bytes = 0;  // of each array
  std::uint64_t pitch = 0;  // from one array to the next
};

struct Job {
  const Kernel* kernel = nullptr;
  std::vector<ThreadData> threads;  // one entry per thread
  std::uint64_t lead = 0;           // untimed repeats before: clock and caches settle
  std::uint64_t repeats = 1;        // timed
  const Kernel* probe = nullptr;    // clock kernel; nullptr = no probe
  std::vector<void*> probe_data;    // its state, per thread
  std::uint64_t probe_repeats = 0;

  // Trips of the innermost loop that one repeat takes on one thread.
  double trips_per_repeat() const;
  double flop() const;   // of the timed window, all threads
  double bytes() const;  // likewise
};

struct Window {
  double seconds = 0;   // from the first thread's start to the last one's end
  double clock_hz = 0;  // mean over threads; 0 = not probed
};

Window run_window(Team& team, const Job& job);

// Chooses repeats for a window of about `window_s` (at least ten), the lead-in (at least two
// repeats, which bring a working set into its cache) and the length of the probe.
void calibrate(Team& team, Job& job, double window_s);

}  // namespace ridgeline::cpu
