// Which of the two interfaces is used, and what both have in common.
#include "kernels/cuda/profiler.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/cuda/cupti/call.h"
#include "kernels/cuda/cupti/profilers.h"

namespace ridgeline::cuda {
namespace {

bool wants_ranges(ProfilerApi api) {
  return api == ProfilerApi::range || (api == ProfilerApi::newest && has_range_profiler());
}

}  // namespace

std::unique_ptr<Profiler> open_profiler(const ProfilerRequest& request) {
  RIDGELINE_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  RIDGELINE_CUPTI(cuptiProfilerInitialize, &initialize);
  return wants_ranges(request.api) ? open_range_profiler(request) : open_session_profiler(request);
}

std::vector<std::string> unknown_metrics(const std::string& chip,
                                         const std::vector<std::string>& metrics, ProfilerApi api) {
  return wants_ranges(api) ? unknown_to_range_profiler(chip, metrics)
                           : unknown_to_session_profiler(chip, metrics);
}

std::vector<std::string> known_metrics(const std::vector<std::string>& metrics,
                                       const std::vector<std::string>& unknown,
                                       const std::string& chip) {
  std::vector<std::string> known;
  for (const std::string& metric : metrics)
    if (std::ranges::find(unknown, metric) == unknown.end()) known.push_back(metric);
  if (known.empty())
    throw Error("GPU counters", "CUPTI knows none of the metrics for " + chip,
                "use a toolkit that knows the GPU");
  return known;
}

int architecture_of(void* context) {
  const CuptiLibrary& library = CuptiLibrary::instance();
  const auto device = static_cast<CUdevice>(device_of(context_or_current(context)));
  const auto attribute = library.function<decltype(&cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  int major = 0, minor = 0;
  attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return 10 * major + minor;
}

std::string why_no_cupti() {
  try {
    CuptiLibrary::instance();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace ridgeline::cuda
