// Times of kernels by CUPTI's activity records: the GPU writes them, buffers carry them here.
// Kernels run as they would without; nothing is repeated.
#include <cupti.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "kernels/cuda/cupti/call.h"
#include "kernels/cuda/profiler.h"

namespace ridgeline::cuda {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t alignment = 8;  // cupti_activity.h, ACTIVITY_RECORD_ALIGNMENT

std::mutex guard;  // buffers come back on a thread of CUPTI's
KernelTimes collected;

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, buffer_bytes));
  *size = *buffer ? buffer_bytes : 0;
  *most_records = 0;  // as many as fit
}

// Called by C code: nothing may be thrown from here.
void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid) {
  const CuptiLibrary& library = CuptiLibrary::instance();
  const std::lock_guard lock(guard);
  CUpti_Activity* record = nullptr;
  const auto next =
      library.function<decltype(&cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
  while (next(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
        record->kind != CUPTI_ACTIVITY_KIND_KERNEL)
      continue;
    // The record grew with every toolkit, at its end: name and times are where CUDA 11 has them.
    const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel5*>(record);
    KernelTime& time = collected.kernels[kernel.name ? kernel.name : "?"];
    ++time.launches;
    time.seconds += 1e-9 * static_cast<double>(kernel.end - kernel.start);
  }
  std::size_t dropped = 0;
  library.function<decltype(&cuptiActivityGetNumDroppedRecords)>(
      "cuptiActivityGetNumDroppedRecords")(context, stream, &dropped);
  collected.lost += dropped;
  std::free(buffer);
}

}  // namespace

void start_kernel_times() {
  {
    const std::lock_guard lock(guard);
    collected = {};
  }
  // Fails here if a function that the callback needs is missing.
  const CuptiLibrary& library = CuptiLibrary::instance();
  for (const char* const name : {"cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords"})
    library.function<void*>(name);
  RIDGELINE_CUPTI(cuptiActivityRegisterCallbacks, give_buffer, take_buffer);
  RIDGELINE_CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

KernelTimes take_kernel_times() {
  RIDGELINE_CUPTI(cuptiActivityFlushAll, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  RIDGELINE_CUPTI(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const std::lock_guard lock(guard);
  return std::exchange(collected, {});
}

}  // namespace ridgeline::cuda
