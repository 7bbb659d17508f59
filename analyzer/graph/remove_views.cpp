// One pass in the order of the layers: every tensor has an alias, mostly itself.
#include "analyzer/graph/remove_views.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "analyzer/fusion/fold_constants.h"

namespace ridgeline {
namespace {

// A cast to the type that its input has already.
bool is_cast_to_itself(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || layer.outputs.size() != 1) return false;
  const auto* elementwise = std::get_if<Elementwise>(&layer.parts.front().op);
  return elementwise != nullptr && elementwise->function == Function::cast &&
         layer.inputs.size() == 1 &&
         graph.tensors[layer.inputs[0]].type == graph.tensors[layer.outputs[0]].type;
}

}  // namespace

Graph without_views(Graph graph) {
  std::vector<TensorId> alias(graph.tensors.size());
  std::iota(alias.begin(), alias.end(), TensorId{0});
  const std::unordered_set<TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  const auto vanishes = [&](const Layer& layer) {
    return takes_part(layer) && (is_view(layer) || is_cast_to_itself(graph, layer)) &&
           layer.inputs.size() == 1 &&
           std::all_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId id) {
             return !outputs.contains(id) &&
                    element_count(graph.tensors[id].shape) ==
                        element_count(graph.tensors[layer.inputs[0]].shape);
           });
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    Layer& layer = graph.layers[i];
    if (vanishes(layer)) {
      for (const TensorId id : layer.outputs) alias[id] = alias[layer.inputs[0]];
      continue;
    }
    std::vector<TensorId> inputs;  // each once, also where two were views of one
    inputs.reserve(layer.inputs.size());
    for (const TensorId id : layer.inputs)
      if (std::find(inputs.begin(), inputs.end(), alias[id]) == inputs.end())
        inputs.push_back(alias[id]);
    layer.inputs = std::move(inputs);
    for (auto& [id, elements] : layer.partly_moved) id = alias[id];
    for (TensorId& id : layer.steering) id = alias[id];
    if (kept != i) graph.layers[kept] = std::move(layer);
    ++kept;
  }
  graph.layers.resize(kept);
  return graph;
}

}  // namespace ridgeline
