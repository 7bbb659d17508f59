// What the module of LibTorch offers to the program: names and types of its functions. The part
// that reads TorchScript is in analyzer/torch/script.h. No header of LibTorch is included here.
#pragma once

#include <string>

#include "execution/torch_backend.h"

namespace ridgeline::torch_module {

// The caller owns what they return.
inline constexpr const char* build_graph_name = "ridgeline_torch_build_graph";
using BuildGraph = Executable*(const Graph&, const ExecutionOptions&);

inline constexpr const char* build_script_name = "ridgeline_torch_build_script";
using BuildScript = Executable*(const std::string& path, const ReadOptions& reading,
                                const ScriptLayers& layers, int threads);

}  // namespace ridgeline::torch_module
