// MIG cuts a GPU into instances, which say so in their name or in the variable that chooses them.
// MPS lets processes run on it at once, through a daemon that has a pipe.
#include "kernels/cuda/sharing.h"

#include <fmt/format.h>

namespace ridgeline::cuda {

std::vector<Warning> sharing_warnings(const DeviceFacts& facts, const Environment& environment,
                                      const SystemRoot& root) {
  std::vector<Warning> warnings;
  const auto variable = [&](const char* name) -> std::string {
    const char* const value = environment(name);
    return value ? value : "";
  };
  if (facts.name.find(" MIG ") != std::string::npos ||
      variable("CUDA_VISIBLE_DEVICES").starts_with("MIG-"))
    warnings.push_back(
        {fmt::format("{} is a MIG instance with {} multiprocessors: rates are those of this part, "
                     "and its neighbours share caches and memory",
                     facts.name, facts.multiprocessors),
         "measure with MIG switched off: nvidia-smi -mig 0"});
  const std::string percentage = variable("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
  std::string pipes = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (pipes.empty()) pipes = "/tmp/nvidia-mps";
  if (!percentage.empty() || exists(root, pipes.substr(pipes.find_first_not_of('/')) + "/control"))
    warnings.push_back(
        {percentage.empty()
             ? "an MPS server runs: other processes may use the GPU at the same time"
             : fmt::format("MPS lets this process have {} % of the GPU's threads", percentage),
         "stop it: echo quit | nvidia-cuda-mps-control"});
  return warnings;
}

}  // namespace ridgeline::cuda
