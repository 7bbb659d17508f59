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
         is_product_of_activations(c.graph, c.consumer) && c.consumer.layers.size() == 1;
}

// A normalisation or activation that an exporter took apart: reductions and pointwise steps on the
// same rows, read and written once.
bool row_wise_island(const FusionCandidate& c) {
  const auto test = [](const Op& op) { return is_row_wise(op) || is_pointwise(op); };
  return all_parts(c.graph, c.producer, test) && all_parts(c.graph, c.consumer, test) &&
         (any_part(c.graph, c.producer, is_row_wise) || any_part(c.graph, c.consumer, is_row_wise));
}

// Data that is only moved, and moved again, is moved once: transpositions and concatenations in a
// row. A slice is left out: it reads less than its producer would then.
bool copy_chain(const FusionCandidate& c) {
  const auto test = [](const Op& op) {
    const auto* copy = std::get_if<Copy>(&op);
    return copy != nullptr && !copy->elements_read;
  };
  return all_parts(c.graph, c.producer, test) && all_parts(c.graph, c.consumer, test);
}

using R = Runtime;

}  // namespace

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<MatMul>(op);
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
      {"pointwise_chain", pointwise_chain, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"row_wise", row_wise_island, {R::ideal, R::tensorrt, R::torch_compiled, R::onnxruntime}},
      {"convolution_and_pool", pool_into_convolution, {R::ideal}},
      {"copy_chain", copy_chain, {R::ideal, R::tensorrt, R::torch_compiled}},
  };
  return table;
}

bool joins_siblings(Runtime runtime) {
  return runtime == Runtime::ideal || runtime == Runtime::tensorrt;
}

bool fuses(Runtime runtime) {
  const auto& rules = fusion_rules();
  return joins_siblings(runtime) || std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
           return std::find(rule.runtimes.begin(), rule.runtimes.end(), runtime) !=
                  rule.runtimes.end();
         });
}

}  // namespace ridgeline
