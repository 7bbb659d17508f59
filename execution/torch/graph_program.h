// A Graph as a list of calls of LibTorch, one function per layer. Weights and inputs are random.
// Which calls are made and what is freed when follows eager PyTorch: one operator after the other,
// activations of images in place where torchvision does so.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline::torch_module {

using Values = std::vector<at::Tensor>;  // by tensor of the graph; undefined: not there (any more)

struct LayerCall {
  std::string name;
  std::size_t layer = no_index;
  std::function<void(Values&)> run;
  std::vector<TensorId> last_uses;  // freed afterwards
};

struct LearnedTensor {
  std::string name;
  at::Tensor tensor;
};

struct GraphProgram {
  Values constants;  // weights and inputs, which every step starts from
  std::vector<LayerCall> calls;
  std::vector<TensorId> outputs;
  std::vector<LearnedTensor> parameters;  // with gradients, if it trains
  std::vector<std::string> notes;
};

// Executes every layer once to check it; an Error names the layers that cannot be executed.
GraphProgram graph_program(const Graph& graph, bool trains);

}  // namespace ridgeline::torch_module
