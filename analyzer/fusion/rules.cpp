// Patterns, and the runtimes that apply them. Names follow TensorRT's layer names where they exist.
// Sources: TensorRT developer guide ("Types of fusions"), torch.compile's Inductor (pointwise and
// reductions in one kernel, library calls for products), ONNX Runtime's graph optimisations.
#include "analyzer/fusion/rules.h"

#include <algorithm>

#include "analyzer/fusion/rules_onnxruntime.h"

namespace ridgeline {
namespace {

// Parameters computed at run time cannot be folded.
bool batch_norm_into_product(const FusionCandidate& c) {
  const Layer* product = single_layer(c.graph, c.producer);
  const Layer* norm = single_layer(c.graph, c.consumer);
  return product != nullptr && norm != nullptr && c.producer.products == 1 &&
         c.consumer.has_only(kind::batch_norm) && reads_weights_beside_first(c.graph, *product) &&
         reads_weights_beside_first(c.graph, *norm);
}

bool pointwise_into_product(const FusionCandidate& c) {
  return c.producer.products == 1 && !c.producer.has(kind::softmax) &&
         c.consumer.has_only(kind::pointwise) && keeps_size(c);
}

// A pool over the whole image writes what it computes in, and is quantised afterwards.
bool is_average(const Graph& graph, const FusionGroup& group) {
  const Layer* layer = single_layer(graph, group);
  return layer != nullptr && group.has_only(kind::reduction);
}

bool is_quantization(const Graph& graph, const FusionGroup& group) {
  const Layer* layer = single_layer(graph, group);
  if (layer == nullptr || layer->parts.size() != 1) return false;
  const auto* step = std::get_if<Elementwise>(&layer->parts.front().op);
  return step != nullptr && step->function == Function::quantize;
}

// Whether the group adds a tensor to its product that is neither constant nor quantised.
bool adds_unquantized(const Graph& graph, const FusionGroup& group) {
  std::vector<TensorId> made;
  for (const std::size_t index : group.layers) {
    const auto& outputs = graph.layers[index].outputs;
    made.insert(made.end(), outputs.begin(), outputs.end());
  }
  return std::any_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
    const Layer& layer = graph.layers[index];
    return kind_of(layer.parts.front().op) == kind::pointwise &&
           std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
             const Tensor& tensor = graph.tensors[id];
             return tensor.role != Role::weight && !tensor.is_quantized &&
                    std::find(made.begin(), made.end(), id) == made.end();
           });
  });
}

// With a residual in floating point, a convolution writes floating point (TensorRT guide, "Q/DQ
// layer-placement recommendations").
bool pointwise_into_product_of_tensorrt(const FusionCandidate& c) {
  return pointwise_into_product(c) &&
         !(is_quantization(c.graph, c.consumer) && adds_unquantized(c.graph, c.producer));
}

bool pointwise_chain(const FusionCandidate& c) {
  return c.producer.has_only(kind::pointwise) && c.consumer.has_only(kind::pointwise);
}

// At inference, a batch normalisation that is not folded into a product is a scale and a shift.
bool batch_norm_and_pointwise(const FusionCandidate& c) {
  constexpr unsigned both = kind::batch_norm | kind::pointwise;
  return c.producer.has_only(both) && c.consumer.has_only(both);
}

bool pool_into_convolution(const FusionCandidate& c) {
  return c.producer.products == 1 && c.consumer.layers.size() == 1 &&
         c.consumer.has_only(kind::pool) && !all_layers(c.graph, c.consumer, pools_all) &&
         c.producer.has(kind::convolution);
}

// TensorRT's ConvActPool: the first convolution, which reads an image, in int8 with the maxima of
// its result (engine of a quantised ResNet-18, TensorRT 8.4).
bool pool_into_image_convolution(const FusionCandidate& c) {
  constexpr std::int64_t most_image_channels = 4;
  const Layer* pool = single_layer(c.graph, c.consumer);
  if (!pool_into_convolution(c) || pool->parts.front().dtype != DType::int8) return false;
  return std::all_of(c.producer.layers.begin(), c.producer.layers.end(), [&](std::size_t index) {
    const Layer& layer = c.graph.layers[index];
    const auto* convolution = std::get_if<Convolution>(&layer.parts.front().op);
    return convolution == nullptr || (layer.parts.front().dtype == DType::int8 &&
                                      convolution->in_channels <= most_image_channels);
  });
}

bool softmax_into_scores(const FusionCandidate& c) {
  return is_product_of_activations(c.graph, c.producer) && c.consumer.has(kind::softmax) &&
         c.consumer.has_only(kind::softmax | kind::pointwise);
}

bool values_into_attention(const FusionCandidate& c) {
  return c.producer.products == 1 && c.producer.has(kind::softmax) &&
         is_product_of_activations(c.graph, c.consumer) &&
         all_layers(c.graph, c.consumer, [](const Graph& graph, const Layer& layer) {
           return moves_or_scales(graph, layer) ||
                  (layer.parts.size() == 1 && is_product(layer.parts.front().op));
         });
}

// A product reads its operands in place: through the strides of a transposition, at the offset of a
// slice, with a scalar factor applied to the whole product.
bool operand_access(const FusionCandidate& c) {
  if (!c.consumer.has(kind::matrix_product | kind::attention) ||
      !all_layers(c.graph, c.producer, moves_or_scales))
    return false;
  const Passage way = passage(c.graph, c.producer);
  return way.inputs == 1 && way.out <= way.in;
}

// Attention reads a key or value once for all query heads that share it.
bool grouped_heads(const FusionCandidate& c) {
  if (!c.consumer.has(kind::softmax) || c.consumer.products == 0 ||
      !all_layers(c.graph, c.producer, moves_or_scales))
    return false;
  const Passage way = passage(c.graph, c.producer);
  return way.inputs == 1 && way.in > 0 && way.out > way.in && way.out % way.in == 0;
}

// A product writes its result in the order that its reader needs.
bool result_access(const FusionCandidate& c) {
  if (!c.producer.has(kind::matrix_product | kind::attention) ||
      !all_layers(c.graph, c.consumer, only_moves))
    return false;
  const Passage way = passage(c.graph, c.consumer);
  return way.inputs == 1 && way.out == way.in;
}

// A normalisation or activation that an exporter decomposed: reductions and pointwise steps on the
// same rows, read and written once.
bool row_wise_island(const FusionCandidate& c) {
  constexpr unsigned both = kind::row_wise | kind::pointwise;
  if (is_average(c.graph, c.producer) && is_quantization(c.graph, c.consumer)) return false;
  return c.producer.has_only(both) && c.consumer.has_only(both) &&
         (c.producer.has(kind::row_wise) || c.consumer.has(kind::row_wise));
}

// Halves of a row that are swapped between pointwise steps, as in rotary embeddings: an index, not
// a copy.
bool pointwise_within_rows(const FusionCandidate& c) {
  return all_layers(c.graph, c.producer, stays_within_rows) &&
         all_layers(c.graph, c.consumer, stays_within_rows);
}

// Steps within the rows of a product's result that keep its size: a rotary embedding, merged
// patches.
bool rows_into_product(const FusionCandidate& c) {
  if (is_quantization(c.graph, c.consumer)) return false;  // a rule of its own
  return c.producer.products == 1 && !c.producer.has(kind::softmax) &&
         c.consumer.has(kind::pointwise) && all_layers(c.graph, c.consumer, stays_within_rows) &&
         passage(c.graph, c.consumer).out == element_count(c.graph.tensors[c.tensor].shape);
}

// Loops over the same elements in one kernel, whatever their read index: movement and look-up
// become indexing and move no data themselves.
constexpr unsigned indexed = kind::pointwise | kind::batch_norm | kind::movement;

bool indexed_loops(const FusionCandidate& c) {
  return c.producer.has_only(indexed) && c.consumer.has_only(indexed);
}

// A reduction inside the loop that computes its input.
bool reduction_of_loop(const FusionCandidate& c) {
  return c.producer.has_only(indexed) && (all_layers(c.graph, c.consumer, pools_all) ||
                                          (c.consumer.has(kind::row_wise) &&
                                           c.consumer.has_only(kind::row_wise | kind::pointwise)));
}

// Consecutive transpositions, concatenations and slices move the data once.
bool copy_chain(const FusionCandidate& c) {
  return all_layers(c.graph, c.producer, only_moves) && all_layers(c.graph, c.consumer, only_moves);
}

using R = Runtime;

}  // namespace

const std::vector<FusionRule>& fusion_rules() {
  // In order of preference: if several rules match, the first applies.
  static const std::vector<FusionRule> table = {
      {"batch_norm", batch_norm_into_product, {R::ideal, R::tensorrt, R::onnxruntime}},
      {"softmax_of_scores", softmax_into_scores, {R::ideal, R::tensorrt}},
      {"attention", values_into_attention, {R::ideal, R::tensorrt}},
      {"product_and_pointwise", pointwise_into_product, {R::ideal}},
      {"product_and_pointwise", pointwise_into_product_of_tensorrt, {R::tensorrt}},
      {"convolution_and_activation", onnxruntime::convolution_and_activation, {R::onnxruntime}},
      {"product_and_activation", onnxruntime::product_and_activation, {R::onnxruntime}},
      {"function_of_one_tensor", onnxruntime::function_of_one_tensor, {R::onnxruntime}},
      {"normalization_of_sum", onnxruntime::normalization_of_sum, {R::onnxruntime}},
      {"scaled_product", onnxruntime::scaled_or_transposed_product, {R::onnxruntime}},
      {"batch_norm_and_activation", onnxruntime::batch_norm_and_activation, {R::onnxruntime}},
      {"operand_access", operand_access, {R::ideal, R::tensorrt}},
      {"grouped_heads", grouped_heads, {R::ideal, R::tensorrt}},
      {"result_access", result_access, {R::ideal, R::tensorrt}},
      {"pointwise_chain", pointwise_chain, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"batch_norm_and_pointwise", batch_norm_and_pointwise, {R::ideal, R::tensorrt}},
      {"row_wise", row_wise_island, {R::ideal, R::tensorrt, R::torch_compiled}},
      {"convolution_and_pool", pool_into_convolution, {R::ideal}},
      {"image_convolution_and_pool",
       pool_into_image_convolution,
       {R::tensorrt},
       false,
       false,
       true},
      {"copy_chain", copy_chain, {R::ideal, R::tensorrt}, false, false, true},
      {"within_rows", pointwise_within_rows, {R::ideal, R::tensorrt}},
      {"product_and_rows", rows_into_product, {R::ideal, R::tensorrt}},
      {"indexed_loops", indexed_loops, {R::ideal, R::torch_compiled}, true},
      {"reduction_of_loop", reduction_of_loop, {R::ideal, R::torch_compiled}, true, true},
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
