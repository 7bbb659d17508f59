// The rules, one file each; lint.cpp lists them as rows.
#pragma once

#include <vector>

#include "analyzer/tensorrt/lint/lint.h"

namespace ridgeline::tensorrt {

std::vector<Finding> find_reformats(const LintSubject& subject);
std::vector<Finding> find_unfused_quantization(const LintSubject& subject);
std::vector<Finding> find_precision_fallback(const LintSubject& subject);
std::vector<Finding> find_full_precision(const LintSubject& subject);
std::vector<Finding> find_wide_outputs(const LintSubject& subject);
std::vector<Finding> find_unaligned_channels(const LintSubject& subject);
std::vector<Finding> find_idle_tensor_cores(const LintSubject& subject);
std::vector<Finding> find_unfused_pointwise(const LintSubject& subject);
std::vector<Finding> find_copies(const LintSubject& subject);
std::vector<Finding> find_tiny_kernels(const LintSubject& subject);
std::vector<Finding> find_far_from_roof(const LintSubject& subject);
std::vector<Finding> find_profile_shapes(const LintSubject& subject);

}  // namespace ridgeline::tensorrt
