// Which layers read or write a tensor, in one piece of memory: a network has thousands of tensors
// with a reader or two.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

class LayersByTensor {
 public:
  // In the order of the layers.
  std::span<const std::size_t> operator[](TensorId id) const {
    return std::span(layers_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }

  // What is computed before the first run, such as a shape, reads nothing when it runs.
  static LayersByTensor readers(const Graph& graph) {
    return LayersByTensor(graph.tensors.size(), [&](auto&& visit) {
      for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        if (graph.layers[i].standing == Standing::folded) continue;
        for (const auto* ids : {&graph.layers[i].inputs, &graph.layers[i].steering})
          for (const TensorId id : *ids) visit(id, i);
      }
    });
  }

  static LayersByTensor writers(const Graph& graph) {
    return LayersByTensor(graph.tensors.size(), [&](auto&& visit) {
      for (std::size_t i = 0; i < graph.layers.size(); ++i)
        for (const TensorId id : graph.layers[i].outputs) visit(id, i);
    });
  }

 private:
  template <class ForEach>
  LayersByTensor(std::size_t tensors, const ForEach& for_each) : begin_(tensors + 1, 0) {
    for_each([&](TensorId id, std::size_t) { ++begin_[id + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    layers_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for_each([&](TensorId id, std::size_t layer) { layers_[next[id]++] = layer; });
  }

  std::vector<std::size_t> begin_, layers_;  // of tensor i: from begin_[i] to begin_[i + 1]
};

}  // namespace ridgeline
