// Results in words, with the known way out of each; and the device behind a context.
#include "kernels/cuda/cupti/call.h"

#include <cupti.h>

#include "base/error.h"

namespace ridgeline::cuda {
namespace {

struct KnownResult {
  CUptiResult result;
  const char *what, *fix;
};

constexpr const char* other_tool =
    "end Nsight, ncu, nsys or other profilers; with DCGM: dcgmi profile --pause";

// https://developer.nvidia.com/ERR_NVGPUCTRPERM and the comments of cupti_result.h
constexpr KnownResult known_results[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
     "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
     "use sudo, on Jetson too; or load the driver with the module option "
     "NVreg_RestrictProfilingToAdminUsers=0"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "the host of this virtual GPU does not allow profiling", "enable profiling of the vGPU"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "a virtual GPU has no counters", ""},
    {CUPTI_ERROR_HARDWARE_BUSY, "another tool is using the GPU's counters", other_tool},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "another profiler is attached to this process",
     other_tool},
    {CUPTI_ERROR_NOT_SUPPORTED, "not supported by this GPU or driver", ""},
    {CUPTI_ERROR_INVALID_DEVICE, "this GPU is not supported by this CUPTI",
     "use a toolkit that knows the GPU"},
};

const char* name_of(CUptiResult result) {
  const CuptiLibrary& library = CuptiLibrary::instance();
  const char* name = nullptr;
  if (library.has("cuptiGetResultString"))
    library.function<decltype(&cuptiGetResultString)>("cuptiGetResultString")(result, &name);
  return name ? name : "unknown result";
}

}  // namespace

void check_cupti(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  for (const KnownResult& known : known_results)
    if (known.result == result) throw Error("GPU counters", known.what, known.fix);
  throw Error("GPU counters", std::string(call) + ": " + name_of(result) + " (" +
                                  std::to_string(static_cast<int>(result)) + ")");
}

CUcontext context_or_current(void* context) {
  if (context) return static_cast<CUcontext>(context);
  CUcontext current = nullptr;
  CuptiLibrary::instance().function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent")(&current);
  if (!current) throw Error("GPU counters", "no CUDA context is current");
  return current;
}

std::uint32_t device_of(CUcontext context) {
  std::uint32_t device = 0;
  RIDGELINE_CUPTI(cuptiGetDeviceId, context, &device);
  return device;
}

std::string chip_of(CUcontext context) {
  RIDGELINE_PARAMS(CUpti_Device_GetChipName_Params, chip);
  chip.deviceIndex = device_of(context);
  RIDGELINE_CUPTI(cuptiDeviceGetChipName, &chip);
  return chip.pChipName;
}

Image counter_availability(CUcontext context) {
  RIDGELINE_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, availability);
  availability.ctx = context;
  RIDGELINE_CUPTI(cuptiProfilerGetCounterAvailability, &availability);
  Image image(availability.counterAvailabilityImageSize);
  availability.pCounterAvailabilityImage = image.data();
  RIDGELINE_CUPTI(cuptiProfilerGetCounterAvailability, &availability);
  return image;
}

}  // namespace ridgeline::cuda
