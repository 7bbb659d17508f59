// Repetitions run through all n once, so that a slow change of the host touches all alike; the
// slope of each repetition's Theil–Sen line is one value.
#include "kernels/cuda/launch_probe.h"

#include <sched.h>

#include "base/statistics.h"

namespace ridgeline::cuda {
namespace {

constexpr Grid one_warp{1, 32};
constexpr int round_trips_between = 50;

// Keeps the calling thread where it is: cores of a machine may differ in clock and kind.
class OneCore {
 public:
  OneCore() {
    const int core = sched_getcpu();
    if (core < 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(core), &one);
    bound_ = sched_setaffinity(0, sizeof one, &one) == 0;
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;
  ~OneCore() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool bound_ = false;
};

double round_trip(Gpu& gpu, const Kernel& empty, const std::function<double()>& now_s) {
  const double start = now_s();
  gpu.launch(empty, one_warp, {});
  gpu.synchronize();
  return now_s() - start;
}

double slope(Gpu& gpu, int most, const std::function<void(int)>& start_all,
             const std::function<double()>& now_s) {
  std::vector<double> counts, times;
  for (int n = 1; n <= most; n *= 2) {
    const double start = now_s();
    start_all(n);
    gpu.synchronize();
    counts.push_back(n);
    times.push_back(now_s() - start);
  }
  return theil_sen(counts, times).slope;
}

// A graph is made before it is timed, so that each size needs its own repetitions.
double graph_slope(Gpu& gpu, const Kernel& empty, int most, const std::function<double()>& now_s) {
  std::vector<double> counts, times;
  for (int n = 16; n <= most; n *= 4) {
    gpu.capture(empty, one_warp, {}, n);
    gpu.replay();  // the first one uploads
    gpu.synchronize();
    const double start = now_s();
    gpu.replay();
    gpu.synchronize();
    counts.push_back(n);
    times.push_back(now_s() - start);
  }
  return theil_sen(counts, times).slope;
}

}  // namespace

std::vector<double> probe_launch(Gpu& gpu, const Kernel& empty, LaunchKind kind, bool quick,
                                 const std::function<double()>& now_s,
                                 const std::function<void()>& between) {
  const OneCore one_core;
  const int repetitions = kind == LaunchKind::round_trip ? (quick ? 200 : 1000) : (quick ? 7 : 21);
  round_trip(gpu, empty, now_s);  // the first launch loads the code
  std::vector<double> values;
  for (int i = 0; i < repetitions; ++i) {
    if (between && (kind != LaunchKind::round_trip || i % round_trips_between == 0)) between();
    switch (kind) {
      case LaunchKind::round_trip:
        values.push_back(round_trip(gpu, empty, now_s));
        break;
      case LaunchKind::async_launch:
        values.push_back(slope(
            gpu, 4096,
            [&](int n) {
              for (int k = 0; k < n; ++k) gpu.launch(empty, one_warp, {});
            },
            now_s));
        break;
      case LaunchKind::graph_node:
        values.push_back(graph_slope(gpu, empty, 1024, now_s));
        break;
    }
  }
  return values;
}

}  // namespace ridgeline::cuda
