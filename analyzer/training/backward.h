// The backward pass of a training step: which layers contribute to a gradient, and what they read.
// For the arithmetic of each gradient see gradients.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/training/memory.h"

namespace ridgeline {

// A training step under construction. Layers and tensors of gradients and of the optimiser follow
// those of the forward pass.
struct TrainingGraph {
  Graph graph;
  std::vector<Holding> holdings;  // by tensor
  std::vector<bool> trainable;    // by tensor of the forward pass: a parameter to be trained
  std::vector<bool> wanted;  // by tensor: depends on a trainable parameter, so it needs a gradient

  TensorId add_tensor(std::string name, ElementType type, const Shape& shape, Holding holding) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.shape = shape;
    tensor.source = ShapeSource::fixed;
    graph.tensors.push_back(std::move(tensor));
    holdings.push_back(holding);
    return graph.tensors.size() - 1;
  }
};

struct BackwardPass {
  std::vector<std::pair<TensorId, TensorId>> gradients;  // (parameter, gradient)
  std::vector<std::string> without_gradient;             // layers whose Op has no gradient rule
};

// Adds the layers of the pass. With checkpoints, the activations of all but the last of √n segments
// are recomputed.
BackwardPass add_backward_pass(TrainingGraph& step, bool checkpoint);

}  // namespace ridgeline
