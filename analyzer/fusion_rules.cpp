// Patterns, and who knows them. Names follow TensorRT's layer names where it has one.
// Sources: TensorRT developer guide ("Types of fusions"), torch.compile's Inductor (pointwise and
// reductions in one kernel, library calls for products), ONNX Runtime's graph optimisations.
#include "analyzer/fusion_rules.h"

#include <algorithm>

namespace ridgeline {
namespace {

const Layer& layer_at(const Graph& graph, std::size_t index) { return graph.layers[index]; }

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

bool is_view(const Op& op) { return std::holds_alternative<View>(op); }
bool is_pointwise_or_view(const Op& op) { return is_pointwise(op) || is_view(op); }
bool is_softmax(const Op& op) { return std::holds_alternative<Softmax>(op); }
bool is_reduction(const Op& op) { return std::holds_alternative<Reduce>(op); }
bool is_pool(const Op& op) { return std::holds_alternative<Pool>(op); }

bool is_row_wise(const Op& op) {
  const auto* normalize = std::get_if<Normalize>(&op);
  return is_softmax(op) || is_reduction(op) ||
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

// A product whose two operands are both activations: scores, or weighted values of attention.
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

// Elements are moved and none is changed: transpositions, concatenations, slices. A gather by one
// constant index is a slice.
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

// A multiplication of all elements by the same number, which is a tensor of one element or part of
// the operator.
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

// What a group reads from outside and what it leaves, in elements: numbers aside, which index and
// scale.
struct Passage {
  std::size_t inputs = 0;
  std::int64_t in = 0, out = 0;
};

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

// A pointwise step, or a slice or concatenation along the last axis.
bool stays_within_rows(const Graph& graph, const Layer& layer) {
  if (std::all_of(layer.parts.begin(), layer.parts.end(),
                  [](const Part& part) { return is_pointwise(part.op); }))
    return true;
  const Shape& rows = graph.tensors[layer.outputs.front()].shape;
  const auto has_these_rows = [&](TensorId id) {
    const Shape& shape = graph.tensors[id].shape;
    return !rows.empty() && shape.size() == rows.size() &&
           std::equal(rows.begin(), rows.end() - 1, shape.begin());
  };
  return only_moves(graph, layer) &&
         std::all_of(layer.inputs.begin(), layer.inputs.end(), has_these_rows) &&
         std::all_of(layer.outputs.begin(), layer.outputs.end(), has_these_rows);
}

bool moves_or_scales(const Graph& graph, const Layer& layer) {
  return only_moves(graph, layer) || only_scales(graph, layer);
}

bool is_matrix_product(const Op& op) {
  return std::holds_alternative<MatMul>(op) || std::holds_alternative<Attention>(op);
}

// Elementwise work on the product's output keeps its size; a broadcast would be computed often.
bool keeps_size(const FusionCandidate& candidate) {
  const std::int64_t size = element_count(candidate.graph.tensors[candidate.tensor].shape);
  for (const std::size_t index : candidate.consumer.layers)
    for (const TensorId id : layer_at(candidate.graph, index).outputs)
      if (element_count(candidate.graph.tensors[id].shape) != size) return false;
  return true;
}

// --- the rules ---

bool batch_norm_into_product(const FusionCandidate& c) {
  return product_count(c.graph, c.producer) == 1 && c.consumer.layers.size() == 1 &&
         c.producer.layers.size() == 1 && all_parts(c.graph, c.consumer, is_evaluated_batch_norm);
}

bool pointwise_into_product(const FusionCandidate& c) {
  return product_count(c.graph, c.producer) == 1 && !any_part(c.graph, c.producer, is_softmax) &&
         all_parts(c.graph, c.consumer, is_pointwise) && keeps_size(c);
}

bool pointwise_chain(const FusionCandidate& c) {
  return all_parts(c.graph, c.producer, is_pointwise) &&
         all_parts(c.graph, c.consumer, is_pointwise);
}

// At inference a batch normalisation that no product takes in is a scale and a shift of its own.
bool batch_norm_and_pointwise(const FusionCandidate& c) {
  const auto test = [](const Op& op) { return is_evaluated_batch_norm(op) || is_pointwise(op); };
  return all_parts(c.graph, c.producer, test) && all_parts(c.graph, c.consumer, test);
}

// A pool over the whole image waits for all of it, so the image leaves the chip first.
bool pools_all(const FusionCandidate& c) {
  const Layer& pool = layer_at(c.graph, c.consumer.layers.front());
  const Shape& out = c.graph.tensors[pool.outputs.front()].shape;
  return std::all_of(out.begin() + std::min<std::ptrdiff_t>(2, std::ssize(out)), out.end(),
                     [](std::int64_t size) { return size == 1; });
}

bool pool_into_convolution(const FusionCandidate& c) {
  return product_count(c.graph, c.producer) == 1 && c.consumer.layers.size() == 1 &&
         all_parts(c.graph, c.consumer, is_pool) && !pools_all(c) &&
         any_part(c.graph, c.producer,
                  [](const Op& op) { return std::holds_alternative<Convolution>(op); });
}

bool softmax_into_scores(const FusionCandidate& c) {
  return is_product_of_activations(c.graph, c.producer) &&
         any_part(c.graph, c.consumer, is_softmax) &&
         all_parts(c.graph, c.consumer,
                   [](const Op& op) { return is_softmax(op) || is_pointwise_or_view(op); });
}

bool values_into_attention(const FusionCandidate& c) {
  return product_count(c.graph, c.producer) == 1 && any_part(c.graph, c.producer, is_softmax) &&
         is_product_of_activations(c.graph, c.consumer) &&
         all_layers(c.graph, c.consumer, [](const Graph& graph, const Layer& layer) {
           return moves_or_scales(graph, layer) ||
                  (layer.parts.size() == 1 && is_product(layer.parts.front().op));
         });
}

// A product takes its operands from where they lie: by the strides of a transposition, at the
// offset of a slice, times a number that scales the whole product.
bool operand_access(const FusionCandidate& c) {
  if (!any_part(c.graph, c.consumer, is_matrix_product) ||
      !all_layers(c.graph, c.producer, moves_or_scales))
    return false;
  const Passage way = passage(c.graph, c.producer);
  return way.inputs == 1 && way.out <= way.in;
}

// Attention reads a key or value once for all the query heads that share it.
bool grouped_heads(const FusionCandidate& c) {
  if (!any_part(c.graph, c.consumer, is_softmax) || product_count(c.graph, c.consumer) == 0 ||
      !all_layers(c.graph, c.producer, moves_or_scales))
    return false;
  const Passage way = passage(c.graph, c.producer);
  return way.inputs == 1 && way.out > way.in && way.out % way.in == 0;
}

// And writes its result in the order in which it is wanted.
bool result_access(const FusionCandidate& c) {
  if (!any_part(c.graph, c.producer, is_matrix_product) ||
      !all_layers(c.graph, c.consumer, only_moves))
    return false;
  const Passage way = passage(c.graph, c.consumer);
  return way.inputs == 1 && way.out == way.in;
}

// A normalisation or activation that an exporter took apart: reductions and pointwise steps on the
// same rows, read and written once.
bool row_wise_island(const FusionCandidate& c) {
  const auto test = [](const Op& op) { return is_row_wise(op) || is_pointwise(op); };
  return all_parts(c.graph, c.producer, test) && all_parts(c.graph, c.consumer, test) &&
         (any_part(c.graph, c.producer, is_row_wise) || any_part(c.graph, c.consumer, is_row_wise));
}

// Halves of a row that change places on their way through pointwise steps, as in rotary embeddings:
// an index, not a copy.
bool pointwise_within_rows(const FusionCandidate& c) {
  return all_layers(c.graph, c.producer, stays_within_rows) &&
         all_layers(c.graph, c.consumer, stays_within_rows);
}

// The rows are those of a product's result, and what leaves is as large.
bool rotation_into_product(const FusionCandidate& c) {
  return product_count(c.graph, c.producer) == 1 && !any_part(c.graph, c.producer, is_softmax) &&
         any_part(c.graph, c.consumer, is_pointwise) &&
         all_layers(c.graph, c.consumer, stays_within_rows) &&
         passage(c.graph, c.consumer).out == element_count(c.graph.tensors[c.tensor].shape);
}

// Data that is only moved, and moved again, is moved once: transpositions, concatenations and
// slices in a row.
bool copy_chain(const FusionCandidate& c) {
  return all_layers(c.graph, c.producer, only_moves) && all_layers(c.graph, c.consumer, only_moves);
}

using R = Runtime;

}  // namespace

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op);
}

bool is_movement(const Op& op) {
  return std::holds_alternative<Copy>(op) || std::holds_alternative<Gather>(op);
}

bool has_product(const Graph& graph, const FusionGroup& group) {
  return product_count(graph, group) > 0;
}

const std::vector<FusionRule>& fusion_rules() {
  // In order of preference: where two rules could take a layer, the first does.
  static const std::vector<FusionRule> table = {
      {"batch_norm", batch_norm_into_product, {R::ideal, R::tensorrt, R::onnxruntime}},
      {"softmax_of_scores", softmax_into_scores, {R::ideal, R::tensorrt, R::onnxruntime}},
      {"attention", values_into_attention, {R::ideal, R::tensorrt, R::onnxruntime}},
      {"product_and_pointwise", pointwise_into_product, {R::ideal, R::tensorrt, R::onnxruntime}},
      {"operand_access", operand_access, {R::ideal, R::tensorrt}},
      {"grouped_heads", grouped_heads, {R::ideal, R::tensorrt}},
      {"result_access", result_access, {R::ideal, R::tensorrt}},
      {"pointwise_chain", pointwise_chain, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"batch_norm_and_pointwise",
       batch_norm_and_pointwise,
       {R::ideal, R::tensorrt, R::torch_compiled}},
      {"row_wise", row_wise_island, {R::ideal, R::tensorrt, R::torch_compiled, R::onnxruntime}},
      {"convolution_and_pool", pool_into_convolution, {R::ideal}},
      {"copy_chain", copy_chain, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"within_rows", pointwise_within_rows, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"product_and_rotation", rotation_into_product, {R::ideal, R::tensorrt}},
  };
  return table;
}

bool joins_siblings(Runtime runtime) {
  return runtime == Runtime::ideal || runtime == Runtime::tensorrt;
}

bool folds_constants(Runtime runtime) {
  return runtime == Runtime::ideal || runtime == Runtime::tensorrt ||
         runtime == Runtime::onnxruntime;
}

bool fuses(Runtime runtime) {
  const auto& rules = fusion_rules();
  return joins_siblings(runtime) || std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
           return std::find(rule.runtimes.begin(), rule.runtimes.end(), runtime) !=
                  rule.runtimes.end();
         });
}

}  // namespace ridgeline
