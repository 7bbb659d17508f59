// Hardware counters of a GPU while kernels run, and the times of kernels by their own records: as
// few calls as both users need, the measuring loop and the library that is put into other programs.
// What the counters mean is in counter_table.h; cupti/ is the only implementation.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ridgeline::cuda {

// CUPTI has two ways to the same counters; `newest` takes range profiling (CUDA 12.6 and newer)
// where build and library have it, and else the older sessions.
enum class ProfilerApi { newest, range, session };

enum class ProfiledRange {
  whole,        // from start() to stop(): the caller repeats its work until stop() says enough
  each_kernel,  // every launch is a range of its own, which the driver repeats
};

struct ProfilerRequest {
  std::vector<std::string> metrics = {};
  ProfiledRange range = ProfiledRange::whole;
  std::size_t most_ranges = 1;  // between start() and stop()
  void* context = nullptr;      // a CUcontext; nullptr = the current one
  ProfilerApi api = ProfilerApi::newest;
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  // Those of the request that this GPU has, in that order.
  virtual const std::vector<std::string>& metrics() const = 0;
  virtual void start() = 0;
  virtual bool stop() = 0;  // whether all metrics have been counted
  // One per range, in the order of their begin, with one value per metric.
  virtual std::vector<std::vector<double>> values() = 0;
};

// Throws an Error with the known fix where counters are forbidden, in use or not supported, and
// where CUPTI is missing.
std::unique_ptr<Profiler> open_profiler(const ProfilerRequest& request);

// Those metrics that CUPTI does not know for a chip ("GA10B"). Needs no GPU.
std::vector<std::string> unknown_metrics(const std::string& chip,
                                         const std::vector<std::string>& metrics, ProfilerApi api);

// 87 for sm_87, of the device that a CUcontext is of.
int architecture_of(void* context);

// Why open_profiler() cannot even begin here (no CUPTI in this build, no library); empty = it can.
std::string why_no_cupti();

struct KernelTime {
  std::uint64_t launches = 0;
  double seconds = 0;  // of all of them
};

struct KernelTimes {
  std::map<std::string, KernelTime> kernels;  // as the compiler named them
  std::uint64_t lost = 0;                     // records that did not fit into the buffers
};

// Kernel records are written from start_kernel_times() on; take_kernel_times() ends that.
void start_kernel_times();
KernelTimes take_kernel_times();

}  // namespace ridgeline::cuda
