// One window: lead-in, barrier, timed kernel, clock probe, on every thread of the job.
// The probe follows in the same thread without a pause, so the clock has no time to change.
#include "kernels/cpu/runner.h"

#include <algorithm>
#include <cmath>

#include "kernels/steady_clock.h"

namespace ridgeline::cpu {
namespace {

struct alignas(64) ThreadTimes {
  double start = 0, end = 0, probe_end = 0;
};

constexpr double probe_s = 2e-4;  // shorter readings scatter, see docs/how-it-works.md
constexpr double lead_share = 0.3;
// Passes through a large cache differ by some percent each: a window averages over a few.
constexpr std::uint64_t least_repeats = 10;

}  // namespace

double Job::trips_per_repeat() const {
  if (kernel->arrays == 0) return 1;
  return static_cast<double>(threads.front().bytes) / kernel->block_bytes();
}

double Job::flop() const {
  return kernel->flop_per_trip() * trips_per_repeat() * static_cast<double>(repeats) *
         static_cast<double>(threads.size());
}

double Job::bytes() const {
  return kernel->bytes_per_trip() * trips_per_repeat() * static_cast<double>(repeats) *
         static_cast<double>(threads.size());
}

Window run_window(Team& team, const Job& job) {
  const int threads = static_cast<int>(job.threads.size());
  std::vector<ThreadTimes> times(job.threads.size());
  Barrier barrier(threads);
  team.run(threads, [&](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    const ThreadData& data = job.threads[index];
    ThreadTimes& mine = times[index];
    if (job.lead > 0) job.kernel->body(job.lead, data.data, data.bytes, data.pitch);
    barrier.wait();
    mine.start = steady_seconds();
    job.kernel->body(job.repeats, data.data, data.bytes, data.pitch);
    mine.end = steady_seconds();
    if (job.probe && job.probe_repeats > 0) {
      job.probe->body(job.probe_repeats, job.probe_data[index], 0, 0);
      mine.probe_end = steady_seconds();
    }
  });
  double first = times.front().start, last = times.front().end, clock = 0;
  for (const ThreadTimes& mine : times) {
    first = std::min(first, mine.start);
    last = std::max(last, mine.end);
    if (mine.probe_end > mine.end)
      clock +=
          static_cast<double>(job.probe_repeats) * job.probe->cycles / (mine.probe_end - mine.end);
  }
  return {last - first, clock / threads};
}

void calibrate(Team& team, Job& job, double window_s) {
  job.lead = 0;
  job.repeats = 1;
  job.probe_repeats = 0;
  run_window(team, job);  // pays for cold caches and pages
  // Short runs are dominated by cold misses: each step is a longer and better estimate.
  for (int step = 0; step < 20; ++step) {
    const double seconds = run_window(team, job).seconds;
    const double wanted = static_cast<double>(job.repeats) * window_s / seconds;
    const double next = std::clamp(wanted, 1.0, 100.0 * static_cast<double>(job.repeats));
    const bool close = std::abs(next / static_cast<double>(job.repeats) - 1) < 0.2;
    job.repeats = static_cast<std::uint64_t>(std::llround(next));
    if (close) break;
  }
  job.repeats = std::max(job.repeats, least_repeats);
  job.lead = std::max<std::uint64_t>(
      2, static_cast<std::uint64_t>(lead_share * static_cast<double>(job.repeats)));
  if (!job.probe) return;
  for (job.probe_repeats = 64;;) {
    const double start = steady_seconds();
    job.probe->body(job.probe_repeats, job.probe_data.front(), 0, 0);
    const double taken = steady_seconds() - start;
    if (taken >= probe_s) break;
    job.probe_repeats *= 2;
  }
}

}  // namespace ridgeline::cpu
