// Networks executed by LibTorch. This header and its source need none of it; what does is in
// execution/torch, a module that is loaded here.
#pragma once

#include <memory>

#include "analyzer/graph/graph.h"
#include "analyzer/training/training.h"
#include "execution/executable.h"

namespace ridgeline {

struct ExecutionOptions {
  int threads = 1;
  std::optional<Optimizer> optimizer = {};  // of a step of training; absent: inference
};

// The network with random weights and inputs. Hyperparameters that a Graph does not keep (stride,
// padding, permutation) follow from the shapes. Layers that cannot be executed are an Error.
std::unique_ptr<Executable> torch_executable(const Graph& graph, const ExecutionOptions& options);

}  // namespace ridgeline
