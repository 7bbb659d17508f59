// TrainingStep: a training step while it is written. Layers and tensors of gradients and of the
// optimizer come behind those of the forward pass.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/training/memory.h"

namespace ridgeline {

struct TrainingStep {
  Graph graph;
  std::vector<Holding> holdings;  // by tensor
  std::vector<bool> learns;       // by tensor of the forward pass: a parameter that learns
  std::vector<bool> wanted;  // and everything that depends on one, so that a gradient is wanted

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

inline bool runs(const Layer& layer) {
  return layer.standing == Standing::counted && !layer.parts.empty();
}

}  // namespace ridgeline
