// Times that `nsys stats --format csv` prints: of kernels (cuda_gpu_kern_sum, cuda_gpu_trace) or of
// the NVTX ranges that TensorRT opens around its layers (nvtx_gpu_proj_sum, nvtx_kern_sum).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/tensorrt/times.h"

namespace ridgeline::tensorrt {

bool is_nsys_csv(std::string_view text);
EngineTimes read_nsys_times(std::string_view text, const std::string& path);

// Kernels have the names of tactics. One that several layers launch is not divided among them.
void join_kernels(KernelTimes& joined, const Engine& engine, const EngineTimes& times);

}  // namespace ridgeline::tensorrt
