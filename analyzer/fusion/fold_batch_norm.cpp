// Finds pairs of a product and a batch normalisation and merges each into one layer. The cost of
// the merged layer follows from its Op and tensors, as for all layers.
#include "analyzer/fusion/fold_batch_norm.h"

#include <algorithm>
#include <limits>

namespace ridgeline {
namespace {

// Producer and number of readers of each tensor.
struct TensorUses {
  std::vector<std::size_t> producer;  // index of a layer, or no_index
  std::vector<std::size_t> readers;   // number; being a graph output counts as one

  explicit TensorUses(const Graph& graph)
      : producer(graph.tensors.size(), no_index), readers(graph.tensors.size(), 0) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      for (const TensorId id : graph.layers[i].inputs) ++readers[id];
      for (const TensorId id : graph.layers[i].outputs) producer[id] = i;
    }
    for (const TensorId id : graph.outputs) ++readers[id];
  }
};

// Inference only: scale, shift and statistics are constant.
bool is_batch_norm(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || layer.inputs.empty() || layer.outputs.size() != 1) return false;
  const auto* op = std::get_if<Normalize>(&layer.parts.front().op);
  if (!op || op->kind != Normalization::batch || op->training) return false;
  return std::all_of(layer.inputs.begin() + 1, layer.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].role == Role::weight; });
}

// Whether the weights can take a factor per channel: they are constant, and no other layer reads
// them. Batch normalisation works on the second axis, so a product must have rank 2, where that
// axis is its columns.
bool can_absorb(const Graph& graph, const Layer& layer, const TensorUses& uses) {
  if (layer.parts.size() != 1 || layer.inputs.size() < 2 || layer.outputs.size() != 1) return false;
  const Op& op = layer.parts.front().op;
  const bool is_product =
      std::holds_alternative<MatMul>(op) && graph.tensors[layer.outputs.front()].shape.size() == 2;
  if (!std::holds_alternative<Convolution>(op) && !is_product) return false;
  const TensorId weights = layer.inputs[1];
  return graph.tensors[weights].role == Role::weight && uses.readers[weights] == 1;
}

bool& bias_of(Op& op) {
  if (auto* convolution = std::get_if<Convolution>(&op)) return convolution->bias;
  return std::get<MatMul>(op).bias;
}

// The bias has one element per channel and the normalisation's type, and is a parameter if the
// weights are.
void give_bias(Graph& graph, Layer& layer, const Layer& norm) {
  bool& has_bias = bias_of(layer.parts.front().op);
  if (has_bias) return;
  has_bias = true;
  Tensor bias = graph.tensors[layer.inputs[1]];
  bias.name = layer.name + ".bias";
  bias.stored_bytes.reset();
  const Shape& out = graph.tensors[layer.outputs.front()].shape;
  bias.shape = {out.size() > 1 ? out[1] : 1};
  if (norm.inputs.size() > 1) bias.type = graph.tensors[norm.inputs[1]].type;
  graph.tensors.push_back(std::move(bias));
  layer.inputs.push_back(graph.tensors.size() - 1);
}

std::vector<bool> used_tensors(const Graph& graph) {
  std::vector<bool> used(graph.tensors.size(), false);
  const auto mark = [&](const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) used[id] = true;
  };
  for (const Layer& layer : graph.layers) {
    mark(layer.inputs);
    mark(layer.outputs);
  }
  mark(graph.inputs);
  mark(graph.outputs);
  return used;
}

// Drops tensors that were used before and no longer are.
void drop_tensors(Graph& graph, const std::vector<bool>& before) {
  const std::vector<bool> now = used_tensors(graph);
  std::vector<TensorId> place(graph.tensors.size());
  std::vector<Tensor> kept;
  kept.reserve(graph.tensors.size());
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    place[id] = kept.size();
    const bool was_used = id < before.size() && before[id];
    if (now[id] || !was_used) kept.push_back(std::move(graph.tensors[id]));
  }
  graph.tensors = std::move(kept);
  const auto move = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids) id = place[id];
  };
  for (Layer& layer : graph.layers) {
    move(layer.inputs);
    move(layer.outputs);
  }
  move(graph.inputs);
  move(graph.outputs);
}

}  // namespace

Graph fold_batch_norm(Graph graph) {
  const std::vector<bool> before = used_tensors(graph);
  TensorUses uses(graph);
  std::vector<bool> gone(graph.layers.size(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& norm = graph.layers[i];
    if (!is_batch_norm(graph, norm)) continue;
    const TensorId between = norm.inputs.front();
    const std::size_t maker = uses.producer[between];
    if (maker == no_index || uses.readers[between] != 1) continue;
    Layer& product = graph.layers[maker];
    if (!can_absorb(graph, product, uses) || product.repeats != norm.repeats ||
        product.standing != norm.standing)
      continue;
    give_bias(graph, product, norm);
    product.outputs = norm.outputs;
    uses.producer[norm.outputs.front()] = maker;
    gone[i] = true;
  }
  std::vector<Layer> kept;
  kept.reserve(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    if (!gone[i]) kept.push_back(std::move(graph.layers[i]));
  graph.layers = std::move(kept);
  drop_tensors(graph, before);
  return graph;
}

}  // namespace ridgeline
