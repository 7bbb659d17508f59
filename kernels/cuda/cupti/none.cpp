// The profiler of a build without CUPTI: every call reports that.
// The table of counters, the comparison and the commands still exist.
#include "base/error.h"
#include "kernels/cuda/profiler.h"

namespace ridgeline::cuda {
namespace {

Error no_cupti() {
  return {"CUPTI", "this ridgeline was built without CUPTI",
          "install the CUDA Toolkit's cupti package and build again with RIDGELINE_CUPTI=ON"};
}

}  // namespace

std::unique_ptr<Profiler> open_profiler(const ProfilerRequest&) { throw no_cupti(); }
std::vector<std::string> unknown_metrics(const std::string&, const std::vector<std::string>&,
                                         ProfilerApi) {
  throw no_cupti();
}
int architecture_of(void*) { throw no_cupti(); }
std::string why_no_cupti() { return no_cupti().what(); }
void start_kernel_times() { throw no_cupti(); }
KernelTimes take_kernel_times() { throw no_cupti(); }

}  // namespace ridgeline::cuda
