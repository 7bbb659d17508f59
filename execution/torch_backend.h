// Networks executed by LibTorch. This header and its source include none of its headers; the files
// that do are in execution/torch, a module that is loaded here.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
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

// Which layer each call of a TorchScript file belongs to.
struct ScriptLayers {
  std::vector<std::string> names;
  std::vector<std::size_t> of_calls;  // no_index: of none
};

// A TorchScript file, run as it is: its own code and weights, forward. `reading` has the shapes of
// its inputs; their elements are random.
std::unique_ptr<Executable> script_executable(const std::string& path, const ReadOptions& reading,
                                              int threads);

}  // namespace ridgeline
