// Both passes visit the layers in order. Every tensor has an alias, usually itself; results of a
// folded layer count as weights for the layers after it.
#include "analyzer/fusion/simplify.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
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

// The axis along which these layers cut the whole tensor into parts; nothing if they do not.
std::optional<std::size_t> axis_of_slices(const Graph& graph, TensorId id,
                                          const std::vector<std::size_t>& layers) {
  const Shape& whole = graph.tensors[id].shape;
  std::optional<std::size_t> axis;
  std::int64_t covered = 0;
  for (const std::size_t index : layers) {
    const Layer& layer = graph.layers[index];
    if (layer.origin != "Slice" || layer.inputs.size() != 1 || layer.outputs.size() != 1 ||
        layer.repeats != graph.layers[layers.front()].repeats)
      return std::nullopt;
    const Shape& part = graph.tensors[layer.outputs.front()].shape;
    if (part.size() != whole.size()) return std::nullopt;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] == whole[i]) continue;
      if (axis && *axis != i) return std::nullopt;
      axis = i;
    }
    if (axis) covered += part[*axis];
  }
  return axis && covered == whole[*axis] ? axis : std::nullopt;
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

void join_slices(Graph& graph) {
  std::vector<std::vector<std::size_t>> readers(graph.tensors.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (takes_part(graph.layers[i]))
      for (const TensorId id : graph.layers[i].inputs) readers[id].push_back(i);
  for (const TensorId id : graph.outputs) readers[id].clear();
  std::vector<bool> is_joined(graph.layers.size(), false);
  for (TensorId id = 0; id < readers.size(); ++id) {
    if (readers[id].size() < 2) continue;
    const auto axis = axis_of_slices(graph, id, readers[id]);
    if (!axis) continue;
    Layer& split = graph.layers[readers[id].front()];
    split.origin = "Split";
    split.parts = {{Copy{}, split.parts.front().dtype}};
    split.sources = {split.name};
    for (std::size_t i = 1; i < readers[id].size(); ++i) {
      Layer& slice = graph.layers[readers[id][i]];
      split.outputs.push_back(slice.outputs.front());
      split.sources.push_back(slice.name);
      is_joined[readers[id][i]] = true;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    if (is_joined[i]) continue;
    if (kept != i) graph.layers[kept] = std::move(graph.layers[i]);
    ++kept;
  }
  graph.layers.resize(kept);
}

}  // namespace ridgeline
