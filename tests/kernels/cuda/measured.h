// Plans and measures a test GPU as the command does; checks its warnings.
// For tests only; the machine around it is quiet.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/cuda/measure.h"
#include "tests/kernels/cuda/test_gpu.h"

namespace ridgeline::testing {

inline ProfileMode measured(TestGpu& gpu, const cuda::MeasureOptions& options = {},
                            const cuda::Instruments& instruments = {}) {
  const auto plan = cuda::plan(options, gpu.facts(),
                               [&](const cuda::Kernel& kernel) { return gpu.support(kernel); });
  return cuda::measure(gpu, plan, options, instruments, gpu.world());
}

// The first row of a kernel whose name begins like this.
inline const ComputeRow& row_of(const ProfileMode& mode, const std::string& kernel) {
  for (const ComputeRow& row : mode.compute)
    if (row.kernel.starts_with(kernel)) return row;
  throw std::logic_error("no row " + kernel);
}

inline bool warns_of(const ProfileMode& mode, const std::string& text) {
  return std::ranges::any_of(mode.conditions.warnings, [&](const Warning& warning) {
    return warning.text.find(text) != std::string::npos;
  });
}

}  // namespace ridgeline::testing
