// How CUPTI is called: by name, with its parameter structs, and what its results mean in words.
// Includes CUPTI's headers; only files of this folder do.
#pragma once

#include <cuda.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/cupti/library.h"

namespace ridgeline::cuda {

// Throws where `result` is an error: what it means and what to do.
void check_cupti(CUptiResult result, const char* call);

using Image = std::vector<std::uint8_t>;  // opaque; only CUPTI reads it

// Facts of the device that a context is of; nullptr is the current context.
CUcontext context_or_current(void* context);
std::uint32_t device_of(CUcontext context);
std::string chip_of(CUcontext context);
Image counter_availability(CUcontext context);

}  // namespace ridgeline::cuda

// A struct of parameters that knows its size.
#define RIDGELINE_PARAMS(Type, name) \
  Type name{};                       \
  name.structSize = Type##_STRUCT_SIZE

#define RIDGELINE_CUPTI(call, ...)                                                               \
  ::ridgeline::cuda::check_cupti(                                                                \
      ::ridgeline::cuda::CuptiLibrary::instance().function<decltype(&call)>(#call)(__VA_ARGS__), \
      #call)
