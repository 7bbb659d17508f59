// A TorchScript file, loaded for inference on the CPU, and inputs to run it with.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/frontend.h"

namespace ridgeline::torch_module {

// The last file stays loaded: a command reads it several times. An Error says what LibTorch lacks.
torch::jit::Module load_script(const std::string& path);

struct ScriptInputs {
  std::vector<c10::IValue> values;                          // in the order of forward()
  std::vector<std::pair<std::string, at::Tensor>> tensors;  // those among them, by name
  std::optional<std::int64_t> batch;
};

// Tensors of the given shapes, random; zeros if the network takes them as indices. Arguments with
// defaults keep those. An Error with exit code `incomplete` names what the user must give.
ScriptInputs script_inputs(const torch::jit::Module& module, const ReadOptions& options,
                           const std::string& path);

}  // namespace ridgeline::torch_module
