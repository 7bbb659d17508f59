// `ridgeline measure --verify-counters`: declared work of each GPU kernel beside measured work.
// What is compared and how is kernels/cuda's part; here it is shown and judged.
#pragma once

#include "base/json.h"
#include "cli/command.h"
#include "kernels/cuda/verify_counters.h"

namespace ridgeline::cli {

ExitCode verify_counters_here(const cuda::MeasureOptions& wanted, const Options& options,
                              Console& console);

Json verification_json(const cuda::Verification& verification, const cuda::DeviceFacts& facts);
std::string verification_text(const cuda::Verification& verification, int width);
std::string verification_csv(const cuda::Verification& verification);

// Throws where a kernel did other work than it declares; 4 where the run did not finish.
ExitCode judge_verification(const cuda::Verification& verification);

}  // namespace ridgeline::cli
