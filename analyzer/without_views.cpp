// One pass in the order of the layers: every tensor has an alias, mostly itself.
#include "analyzer/without_views.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analyzer/fold_constants.h"

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

Graph without_views(const Graph& graph) {
  Graph result;
  result.name = graph.name;
  result.tensors = graph.tensors;
  result.inputs = graph.inputs;
  result.outputs = graph.outputs;
  result.layers.reserve(graph.layers.size());
  std::vector<TensorId> alias(graph.tensors.size());
  for (TensorId id = 0; id < alias.size(); ++id) alias[id] = id;
  const std::unordered_set<TensorId> outputs(graph.outputs.begin(), graph.outputs.end());
  for (const Layer& layer : graph.layers) {
    const bool vanishes =
        takes_part(layer) && (is_view(layer) || is_cast_to_itself(graph, layer)) &&
        layer.inputs.size() == 1 &&
        std::all_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId id) {
          return !outputs.contains(id) && element_count(graph.tensors[id].shape) ==
                                              element_count(graph.tensors[layer.inputs[0]].shape);
        });
    if (vanishes) {
      for (const TensorId id : layer.outputs) alias[id] = alias[layer.inputs[0]];
      continue;
    }
    Layer kept = layer;
    kept.inputs.clear();
    for (const TensorId id : layer.inputs)
      if (std::find(kept.inputs.begin(), kept.inputs.end(), alias[id]) == kept.inputs.end())
        kept.inputs.push_back(alias[id]);
    for (auto& [id, elements] : kept.partly_moved) id = alias[id];
    for (TensorId& id : kept.steering) id = alias[id];
    result.layers.push_back(std::move(kept));
  }
  return result;
}

}  // namespace ridgeline
