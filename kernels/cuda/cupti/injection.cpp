// The library that the CUDA driver loads into a program whose counters or kernel times are wanted
// (CUDA_INJECTION64_PATH). It watches launches, adds up what each kernel did and leaves a file; the
// program's own output and exit code are not touched.
#include "kernels/cuda/cupti/injection.h"

#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/error.h"
#include "kernels/cuda/counter_table.h"
#include "kernels/cuda/cupti/call.h"
#include "kernels/cuda/profiler.h"

namespace ridgeline::cuda {
namespace {

constexpr std::size_t most_launches = 256;  // counted together, and then taken out of the buffers

struct Counted {
  std::uint64_t launches = 0;
  std::vector<double> values;
};

// One CUDA context: its profiler, and the launches since the values were last taken.
struct Counting {
  std::unique_ptr<Profiler> profiler;
  std::vector<std::string> launches;
};

class Injection {
 public:
  explicit Injection(bool times) : times_(times) {}

  void begin() {
    if (times_) {
      start_kernel_times();
      return;
    }
    CUpti_SubscriberHandle subscriber = nullptr;
    RIDGELINE_CUPTI(cuptiSubscribe, &subscriber, &Injection::callback, this);
    for (const CUpti_CallbackId launch : {
           CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
               CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
               CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
#if CUPTI_API_VERSION >= 18  // CUDA 11.8
               CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
               CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
#endif
               CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz
         })
      RIDGELINE_CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch);
    RIDGELINE_CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  }

  void end() {
    const std::lock_guard lock(guard_);
    guarded([&] {
      if (times_) {
        const KernelTimes times = take_kernel_times();
        lost_ = times.lost;
        for (const auto& [name, time] : times.kernels) {
          kernels_[name] = {time.launches, {}};
          seconds_[name] = time.seconds;
        }
      }
      for (auto& [context, counting] : contexts_) take(counting);
    });
    contexts_.clear();
    write();
  }

  void fail(const std::string& text) {
    if (error_.empty()) error_ = text;
  }

 private:
  static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId,
                                const void* data) {
    auto& injection = *static_cast<Injection*>(self);
    const std::lock_guard lock(injection.guard_);
    if (!injection.error_.empty()) return;  // nothing is counted any more
    injection.guarded([&] {
      if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        const auto context = static_cast<const CUpti_ResourceData*>(data)->context;
        const auto found = injection.contexts_.find(context);
        if (found == injection.contexts_.end()) return;
        injection.take(found->second);
        injection.contexts_.erase(found);
        return;
      }
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      if (call.callbackSite == CUPTI_API_ENTER)
        injection.launch(call.context, call.symbolName ? call.symbolName : "CUDA graph");
    });
  }

  // Called by C code: nothing may be thrown from here.
  template <class Action>
  void guarded(const Action& action) noexcept {
    try {
      action();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void launch(CUcontext context, const std::string& name) {
    Counting& counting = contexts_[context];
    if (!counting.profiler) {
      architecture_ = architecture_of(context);
      ProfilerRequest request{.metrics = metrics_of_programs(architecture_),
                              .range = ProfiledRange::each_kernel,
                              .most_ranges = most_launches,
                              .context = context};
      if (request.metrics.empty())
        throw Error("GPU counters", "no metric is known for sm_" + std::to_string(architecture_));
      counting.profiler = open_profiler(request);
      if (!metrics_.empty() && metrics_ != counting.profiler->metrics())
        throw Error("GPU counters", "the program uses GPUs of different kinds",
                    "choose one with CUDA_VISIBLE_DEVICES");
      metrics_ = counting.profiler->metrics();
      counting.profiler->start();
    } else if (counting.launches.size() == most_launches) {
      take(counting);
      counting.profiler->start();
    }
    counting.launches.push_back(name);
  }

  void take(Counting& counting) {
    if (!counting.profiler) return;
    counting.profiler->stop();
    const auto ranges = counting.profiler->values();
    // If the driver made other ranges than there were launches, they cannot be matched.
    const bool named = ranges.size() == counting.launches.size();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      Counted& counted = kernels_[named ? counting.launches[i] : "?"];
      ++counted.launches;
      counted.values.resize(metrics_.size());
      for (std::size_t j = 0; j < ranges[i].size(); ++j) counted.values[j] += ranges[i][j];
    }
    counting.launches.clear();
  }

  void write() const {
    const char* const folder = std::getenv(injection_folder_variable);
    if (!folder) return;
    const std::string path = std::string(folder) + "/" + std::to_string(getpid());
    std::FILE* const file = std::fopen((path + ".part").c_str(), "w");
    if (!file) return;
    std::fprintf(file, "%s\t%d\n", line_architecture, architecture_);
    for (const std::string& metric : metrics_)
      std::fprintf(file, "%s\t%s\n", line_metric, metric.c_str());
    for (const auto& [name, counted] : kernels_) {
      const auto time = seconds_.find(name);
      std::fprintf(file, "%s\t%llu\t%.17g", line_kernel,
                   static_cast<unsigned long long>(counted.launches),
                   time == seconds_.end() ? 0.0 : time->second);
      for (const double value : counted.values) std::fprintf(file, "\t%.17g", value);
      std::fprintf(file, "\t%s\n", name.c_str());
    }
    std::fprintf(file, "%s\t%llu\n", line_lost, static_cast<unsigned long long>(lost_));
    if (!error_.empty()) std::fprintf(file, "%s\t%s\n", line_error, error_.c_str());
    std::fprintf(file, "%s\n", line_end);
    if (std::fclose(file) == 0) std::rename((path + ".part").c_str(), (path + ".txt").c_str());
  }

  bool times_;
  std::mutex guard_;
  int architecture_ = 0;
  std::vector<std::string> metrics_;
  std::map<CUcontext, Counting> contexts_;
  std::map<std::string, Counted> kernels_;
  std::map<std::string, double> seconds_;
  std::uint64_t lost_ = 0;
  std::string error_;
};

Injection* injection = nullptr;  // lives until the process ends

}  // namespace
}  // namespace ridgeline::cuda

// The name that the driver calls (CUPTI documentation, "CUPTI Injection").
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace ridgeline::cuda;
  const char* const work = std::getenv(injection_work_variable);
  if (!work || injection) return 1;
  injection = new Injection(std::string(work) == injection_times);
  try {
    injection->begin();
  } catch (const std::exception& error) {
    injection->fail(error.what());
  }
  std::atexit([] { injection->end(); });
  return 1;
}
