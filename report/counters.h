// Counted work of CUDA kernels as text, CSV and JSON: what another program's kernels did, and how
// the declared work of our own compares with the GPU's counters.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "kernels/cuda/program_counts.h"
#include "kernels/cuda/verify_counters.h"

namespace ridgeline {

cuda::CountedKernel total_of(const cuda::ProgramCounts& counts);

// `command` is the program that was counted, with its arguments.
Json to_json(const cuda::ProgramCounts& counts, const std::vector<std::string>& command);
std::string to_text(const cuda::ProgramCounts& counts, int width);
std::string to_csv(const cuda::ProgramCounts& counts);

Json verification_json(const cuda::Verification& verification, const cuda::DeviceFacts& facts);
std::string verification_text(const cuda::Verification& verification, int width);
std::string verification_csv(const cuda::Verification& verification);

// Throws where a kernel did other work than it declares; 4 where the run did not finish.
ExitCode judge_verification(const cuda::Verification& verification);

}  // namespace ridgeline
