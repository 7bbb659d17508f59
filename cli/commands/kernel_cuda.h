// The CUDA side of `ridgeline kernel`: rows of the list, and one kernel run alone.
// Options are parsed and formats chosen by the command.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/command.h"
#include "kernels/cuda/kernel.h"

namespace ridgeline::cli {

// Why a CUDA kernel cannot run on this machine; empty where it can. Asks the device once.
std::string why_not_here(const cuda::Kernel& kernel);

std::string architectures_text(const cuda::Kernel& kernel);  // "sm_80+", "sm_80 to sm_89"
Json gpu_descriptor_json(const cuda::Kernel& kernel);

ExitCode run_gpu_kernel(const cuda::Kernel& kernel, const Options& options, Console& console);

}  // namespace ridgeline::cli
