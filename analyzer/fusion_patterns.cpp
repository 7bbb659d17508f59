// Questions about groups; none of them changes anything.
#include "analyzer/fusion_patterns.h"

#include <algorithm>

namespace ridgeline {

namespace {

const Layer& layer_at(const Graph& graph, std::size_t index) { return graph.layers[index]; }

}  // namespace

bool all_parts(const Graph& graph, const FusionGroup& group, bool (*test)(const Op&)) {
  return std::all_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
    const auto& parts = layer_at(graph, index).parts;
    return std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return test(part.op); });
  });
}

bool any_part(const Graph& graph, const FusionGroup& group, bool (*test)(const Op&)) {
  return std::any_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
    const auto& parts = layer_at(graph, index).parts;
    return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return test(part.op); });
  });
}

bool is_pointwise(const Op& op) {
  const auto* elementwise = std::get_if<Elementwise>(&op);
  return elementwise != nullptr && elementwise->function != Function::random &&
         elementwise->function != Function::sgd && elementwise->function != Function::momentum &&
         elementwise->function != Function::adam && elementwise->function != Function::adagrad;
}

bool is_softmax(const Op& op) { return std::holds_alternative<Softmax>(op); }
bool is_pool(const Op& op) { return std::holds_alternative<Pool>(op); }

bool is_row_wise(const Op& op) {
  const auto* normalize = std::get_if<Normalize>(&op);
  return is_softmax(op) || std::holds_alternative<Reduce>(op) ||
         (normalize != nullptr && normalize->kind != Normalization::batch);
}

bool is_evaluated_batch_norm(const Op& op) {
  const auto* normalize = std::get_if<Normalize>(&op);
  return normalize != nullptr && normalize->kind == Normalization::batch && !normalize->training;
}

std::size_t product_count(const Graph& graph, const FusionGroup& group) {
  std::size_t count = 0;
  for (const std::size_t index : group.layers)
    for (const Part& part : layer_at(graph, index).parts) count += is_product(part.op);
  return count;
}

bool is_product_of_activations(const Graph& graph, const FusionGroup& group) {
  if (product_count(graph, group) != 1) return false;
  for (const std::size_t index : group.layers) {
    const Layer& layer = layer_at(graph, index);
    if (layer.parts.size() == 1 && std::holds_alternative<MatMul>(layer.parts.front().op))
      return layer.inputs.size() >= 2 && graph.tensors[layer.inputs[0]].role != Role::weight &&
             graph.tensors[layer.inputs[1]].role != Role::weight;
  }
  return false;
}

bool only_moves(const Graph& graph, const Layer& layer) {
  const auto is_index = [&](TensorId id) {
    return graph.tensors[id].role == Role::weight && element_count(graph.tensors[id].shape) == 1;
  };
  return std::all_of(layer.parts.begin(), layer.parts.end(), [&](const Part& part) {
    return std::holds_alternative<Copy>(part.op) ||
           (std::holds_alternative<Gather>(part.op) && layer.inputs.size() == 2 &&
            is_index(layer.inputs[1]));
  });
}

bool only_scales(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || layer.inputs.empty() || layer.outputs.size() != 1) return false;
  const auto* elementwise = std::get_if<Elementwise>(&layer.parts.front().op);
  if (elementwise == nullptr ||
      (elementwise->function != Function::multiply && elementwise->function != Function::divide))
    return false;
  const auto size = [&](TensorId id) { return element_count(graph.tensors[id].shape); };
  return std::all_of(layer.inputs.begin() + 1, layer.inputs.end(),
                     [&](TensorId id) { return size(id) == 1; }) &&
         size(layer.inputs[0]) == size(layer.outputs[0]);
}

Passage passage(const Graph& graph, const FusionGroup& group) {
  std::vector<TensorId> made, read;
  for (const std::size_t index : group.layers) {
    const Layer& layer = layer_at(graph, index);
    made.insert(made.end(), layer.outputs.begin(), layer.outputs.end());
    read.insert(read.end(), layer.inputs.begin(), layer.inputs.end());
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  Passage result;
  for (const TensorId id : read) {
    const std::int64_t size = element_count(graph.tensors[id].shape);
    if (size == 1 || std::find(made.begin(), made.end(), id) != made.end()) continue;
    ++result.inputs;
    result.in += size;
  }
  for (const TensorId id : made)
    if (!std::binary_search(read.begin(), read.end(), id))
      result.out += element_count(graph.tensors[id].shape);
  return result;
}

bool all_layers(const Graph& graph, const FusionGroup& group,
                bool (*test)(const Graph&, const Layer&)) {
  return std::all_of(group.layers.begin(), group.layers.end(),
                     [&](std::size_t index) { return test(graph, layer_at(graph, index)); });
}

bool stays_within_rows(const Graph& graph, const Layer& layer) {
  if (std::all_of(layer.parts.begin(), layer.parts.end(),
                  [](const Part& part) { return is_pointwise(part.op); }))
    return true;
  const Shape& rows = graph.tensors[layer.outputs.front()].shape;
  if (layer.inputs.size() == 1 && graph.tensors[layer.inputs.front()].shape == rows) return false;
  const auto has_these_rows = [&](TensorId id) {
    const Shape& shape = graph.tensors[id].shape;
    return !rows.empty() && shape.size() == rows.size() &&
           std::equal(rows.begin(), rows.end() - 1, shape.begin());
  };
  return only_moves(graph, layer) &&
         std::all_of(layer.inputs.begin(), layer.inputs.end(), has_these_rows) &&
         std::all_of(layer.outputs.begin(), layer.outputs.end(), has_these_rows);
}

bool reads_weights_beside_first(const Graph& graph, const Layer& layer) {
  return layer.inputs.empty() ||
         std::all_of(layer.inputs.begin() + 1, layer.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].role == Role::weight; });
}

bool pools_all(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || !is_pool(layer.parts.front().op)) return false;
  const Shape& out = graph.tensors[layer.outputs.front()].shape;
  return std::all_of(out.begin() + std::min<std::ptrdiff_t>(2, std::ssize(out)), out.end(),
                     [](std::int64_t size) { return size == 1; });
}

bool moves_or_scales(const Graph& graph, const Layer& layer) {
  return only_moves(graph, layer) || only_scales(graph, layer);
}

bool is_matrix_product(const Op& op) {
  return std::holds_alternative<MatMul>(op) || std::holds_alternative<Attention>(op);
}

bool keeps_size(const FusionCandidate& candidate) {
  const std::int64_t size = element_count(candidate.graph.tensors[candidate.tensor].shape);
  for (const std::size_t index : candidate.consumer.layers)
    for (const TensorId id : layer_at(candidate.graph, index).outputs)
      if (element_count(candidate.graph.tensors[id].shape) != size) return false;
  return true;
}

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op);
}

bool is_convolution(const Op& op) { return std::holds_alternative<Convolution>(op); }

bool is_movement(const Op& op) {
  return std::holds_alternative<Copy>(op) || std::holds_alternative<Gather>(op);
}

const Layer* single_layer(const Graph& graph, const FusionGroup& group) {
  return group.layers.size() == 1 ? &layer_at(graph, group.layers.front()) : nullptr;
}

bool has_product(const Graph& graph, const FusionGroup& group) {
  return product_count(graph, group) > 0;
}

}  // namespace ridgeline
