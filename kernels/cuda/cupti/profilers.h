// The two ways to CUPTI's counters, as profiler.h has them. Private to this folder.
#pragma once

#include <memory>

#include "kernels/cuda/profiler.h"

namespace ridgeline::cuda {

// Range profiling: CUDA 12.6 and newer. false where build or library lack it.
bool has_range_profiler();
std::unique_ptr<Profiler> open_range_profiler(const ProfilerRequest& request);
std::vector<std::string> unknown_to_range_profiler(const std::string& chip,
                                                   const std::vector<std::string>& metrics);

// Sessions, with NVIDIA's counter library for names and values: every toolkit has them.
std::unique_ptr<Profiler> open_session_profiler(const ProfilerRequest& request);
std::vector<std::string> unknown_to_session_profiler(const std::string& chip,
                                                     const std::vector<std::string>& metrics);

// What is left of `metrics` without `unknown`; throws where nothing is.
std::vector<std::string> known_metrics(const std::vector<std::string>& metrics,
                                       const std::vector<std::string>& unknown,
                                       const std::string& chip);

}  // namespace ridgeline::cuda
