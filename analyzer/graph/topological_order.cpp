// Depth first: before a layer, whatever makes what it reads.
#include "analyzer/graph/topological_order.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/graph/layers_by_tensor.h"

namespace ridgeline {
namespace {

// Who makes what a layer reads: the last before it, since training computes tensors again; else the
// first behind it. But a weight that is written behind is for the next step.
std::size_t maker(std::span<const std::size_t> writers, Role role, std::size_t reader) {
  const auto behind = std::lower_bound(writers.begin(), writers.end(), reader);
  if (behind != writers.begin()) return *(behind - 1);
  return behind == writers.end() || role == Role::weight ? no_index : *behind;
}

}  // namespace

void put_in_run_order(Graph& graph) {
  const auto writers = LayersByTensor::writers(graph);
  std::vector<Layer> sorted;
  sorted.reserve(graph.layers.size());
  std::vector<char> state(graph.layers.size(), 0);
  std::vector<std::pair<std::size_t, std::size_t>> stack;  // layer, next input
  for (std::size_t start = 0; start < graph.layers.size(); ++start) {
    if (state[start] != 0) continue;
    stack.emplace_back(start, 0);
    state[start] = 1;
    while (!stack.empty()) {
      auto& [layer, next] = stack.back();
      if (next < graph.layers[layer].inputs.size()) {
        const TensorId id = graph.layers[layer].inputs[next++];
        const std::size_t found = maker(writers[id], graph.tensors[id].role, layer);
        if (found != no_index && state[found] == 0) {
          state[found] = 1;
          stack.emplace_back(found, 0);
        }
        continue;
      }
      sorted.push_back(std::move(graph.layers[layer]));
      stack.pop_back();
    }
  }
  graph.layers = std::move(sorted);
}

}  // namespace ridgeline
