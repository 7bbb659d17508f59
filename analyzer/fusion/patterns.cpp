// Predicates on layers and groups.
#include "analyzer/fusion/patterns.h"

#include <algorithm>

namespace ridgeline {

namespace {

const Layer& layer_at(const Graph& graph, std::size_t index) { return graph.layers[index]; }

}  // namespace

unsigned kind_of(const Op& op) {
  struct Visitor {
    unsigned operator()(const Convolution&) const { return kind::convolution; }
    unsigned operator()(const MatMul&) const { return kind::matrix_product; }
    unsigned operator()(const Attention&) const { return kind::attention; }
    unsigned operator()(const Elementwise& op) const {
      switch (op.function) {
        case Function::random:
        case Function::sgd:
        case Function::momentum:
        case Function::adam:
        case Function::adagrad:
          return kind::other;
        default:
          return kind::pointwise;
      }
    }
    unsigned operator()(const Normalize& op) const {
      if (op.kind != Normalization::batch) return kind::normalization;
      return op.training ? kind::other : kind::batch_norm;
    }
    unsigned operator()(const Softmax&) const { return kind::softmax; }
    unsigned operator()(const Reduce&) const { return kind::reduction; }
    unsigned operator()(const Pool&) const { return kind::pool; }
    unsigned operator()(const Copy&) const { return kind::copy; }
    unsigned operator()(const Gather&) const { return kind::look_up; }
    unsigned operator()(const Recurrent&) const { return kind::other; }
    unsigned operator()(const Scatter&) const { return kind::other; }
    unsigned operator()(const Resize&) const { return kind::other; }
    unsigned operator()(const Sort&) const { return kind::other; }
    unsigned operator()(const FourierTransform&) const { return kind::other; }
    unsigned operator()(const View&) const { return kind::other; }
    unsigned operator()(const Described&) const { return kind::other; }
    unsigned operator()(const Unknown&) const { return kind::other; }
  };
  return std::visit(Visitor{}, op);
}

bool is_product_of_activations(const Graph& graph, const FusionGroup& group) {
  if (group.products != 1) return false;
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
                  [](const Part& part) { return kind_of(part.op) == kind::pointwise; }))
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
  if (layer.parts.size() != 1 || kind_of(layer.parts.front().op) != kind::pool) return false;
  const Shape& out = graph.tensors[layer.outputs.front()].shape;
  return std::all_of(out.begin() + std::min<std::ptrdiff_t>(2, std::ssize(out)), out.end(),
                     [](std::int64_t size) { return size == 1; });
}

bool moves_or_scales(const Graph& graph, const Layer& layer) {
  return only_moves(graph, layer) || only_scales(graph, layer);
}

bool keeps_size(const FusionCandidate& candidate) {
  const std::int64_t size = element_count(candidate.graph.tensors[candidate.tensor].shape);
  for (const std::size_t index : candidate.consumer.layers)
    for (const TensorId id : layer_at(candidate.graph, index).outputs)
      if (element_count(candidate.graph.tensors[id].shape) != size) return false;
  return true;
}

const Layer* single_layer(const Graph& graph, const FusionGroup& group) {
  return group.layers.size() == 1 ? &layer_at(graph, group.layers.front()) : nullptr;
}

Layer without_work(const Layer& layer) {
  Layer result;
  result.name = layer.name;
  result.origin = layer.origin;
  result.module = layer.module;
  result.bookkeeping = layer.bookkeeping;
  result.scope = layer.scope;
  result.repeats = layer.repeats;
  result.nested = layer.nested;
  result.pass = layer.pass;
  result.standing = layer.standing;
  result.shapes = layer.shapes;
  return result;
}

}  // namespace ridgeline
