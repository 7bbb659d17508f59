// What the module of LibTorch offers to the program: names and types of its functions.
// No header of LibTorch is included here.
#pragma once

#include "execution/torch_backend.h"

namespace ridgeline::torch_module {

inline constexpr const char* build_graph_name = "ridgeline_torch_build_graph";
using BuildGraph = Executable*(const Graph&, const ExecutionOptions&);  // the caller owns it

}  // namespace ridgeline::torch_module
