// Both passes visit the layers in order. Every tensor has an alias, usually itself; results of a
// folded layer count as weights for the layers after it.
#include "analyzer/fusion/simplify.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <variant>

#include "analyzer/count/count.h"
#include "analyzer/fusion/patterns.h"

namespace ridgeline {
namespace {

bool is_cast_to_itself(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || layer.outputs.size() != 1) return false;
  const auto* elementwise = std::get_if<Elementwise>(&layer.parts.front().op);
  return elementwise != nullptr && elementwise->function == Function::cast &&
         layer.inputs.size() == 1 &&
         graph.tensors[layer.inputs[0]].type == graph.tensors[layer.outputs[0]].type;
}

bool is_constant(const Graph& graph, const Layer& layer) {
  const auto is_weight = [&](TensorId id) { return graph.tensors[id].role == Role::weight; };
  const auto stays = [](const Part& part) {
    const auto* elementwise = std::get_if<Elementwise>(&part.op);
    return is_product(part.op) || std::holds_alternative<Attention>(part.op) ||
           std::holds_alternative<Recurrent>(part.op) || std::holds_alternative<Unknown>(part.op) ||
           (elementwise != nullptr && elementwise->function == Function::random);
  };
  return takes_part(layer) && !layer.inputs.empty() &&
         std::all_of(layer.inputs.begin(), layer.inputs.end(), is_weight) &&
         std::all_of(layer.steering.begin(), layer.steering.end(), is_weight) &&
         std::none_of(layer.parts.begin(), layer.parts.end(), stays);
}

}  // namespace

bool takes_part(const Layer& layer) { return runs(layer) && !layer.outputs.empty(); }

Graph remove_views(Graph graph) {
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
    std::vector<TensorId> inputs;  // each once, even if two were views of the same tensor
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

void fold_constants(Graph& graph, const OpWeights* weights, std::vector<AppliedRule>* applied) {
  if (std::any_of(graph.layers.begin(), graph.layers.end(),
                  [](const Layer& layer) { return layer.pass != Pass::forward; }))
    return;
  for (Layer& layer : graph.layers) {
    const bool leaves = std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId id) {
      return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
    });
    if (leaves || !is_constant(graph, layer)) continue;
    if (applied != nullptr) {
      const Work work = count_layer(graph, layer, *weights);
      applied->push_back({"constants", layer.name, 1, total_bytes(work), total_flop(work),
                          total_integer_ops(work)});
    }
    layer.standing = Standing::folded;
    for (const TensorId id : layer.outputs) graph.tensors[id].role = Role::weight;
  }
}

}  // namespace ridgeline
