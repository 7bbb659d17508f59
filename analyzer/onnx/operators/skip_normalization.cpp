// com.microsoft's normalisations that add a residual before or gate, quantise or activate after.
// Each counts as the sum of its parts; nothing is moved between them.
#include <fmt/format.h>

#include <cstdint>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/window.h"

namespace ridgeline::onnx {
namespace {

// Inputs: data, skip, scale, shift (layer normalisation only), bias.
void skip_normalization(NodeContext& context, Normalization kind, std::size_t bias) {
  want_rank_at_least(context, 0, 1);
  const Shape& data = context.shape(0);
  const std::int64_t width = data.back();
  const std::int64_t elements = element_count(data);
  want_broadcastable_to(context, 1, data);
  for (std::size_t input = 2; input <= bias; ++input)
    if (context.has(input)) want_vector(context, input, width, "columns");

  context.set(0, context.type(0), data);
  Shape statistics = data;
  statistics.back() = 1;
  context.set(1, ElementType::fp32, statistics);
  context.set(2, ElementType::fp32, statistics);
  context.set(3, context.type(0), data);
  emit_elementwise(context, ElementFunction::add, elements);
  if (context.has(bias)) emit_elementwise(context, ElementFunction::add, elements);
  context.emit(Normalize{kind, elements, element_count(statistics), true, false, 0});
}

void skip_layer_normalization(NodeContext& context) {
  skip_normalization(context, Normalization::layer, 4);
}

void skip_simplified_layer_normalization(NodeContext& context) {
  skip_normalization(context, Normalization::rms, 3);
}

void group_norm_parts(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  const std::int64_t channels = channels_of(data, context.integer("channels_last", 1) != 0);
  const std::int64_t groups = context.integer("groups", 0);
  divided(context, "the number of channels", channels, groups);
  want_vector(context, 1, channels, "channels");
  want_vector(context, 2, channels, "channels");
  context.emit(Normalize{Normalization::group, element_count(data),
                         multiplied(context, {data[0], groups}), true, false, 0});
  if (context.integer("activation", 0) == 1)
    emit_elementwise(context, ElementFunction::swish, element_count(data));
}

void group_norm(NodeContext& context) {
  context.set(0, context.type(0), context.shape(0));
  group_norm_parts(context);
}

// Inputs: X, scale, shift, skip, bias. The skip has the shape of X, or one value per sample and
// channel.
void skip_group_norm(NodeContext& context) {
  const Shape& data = context.shape(0);
  const std::int64_t elements = element_count(data);
  context.set(0, context.type(0), data);
  context.set(1, context.type(0), data);
  emit_elementwise(context, ElementFunction::add, elements);
  if (context.has(4)) emit_elementwise(context, ElementFunction::add, elements);
  group_norm_parts(context);
}

// Inputs: X, scale, gate. Rows are as wide as the scale.
void gated_rms_norm(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  want_rank(context, 1, 1);
  const Shape& data = context.shape(0);
  want_shape(context, 2, data);
  const std::int64_t width = context.dimension(1, 0);
  divided(context, "the width of the input", data.back(), width);
  const std::int64_t elements = element_count(data);
  context.set(0, context.type(0), data);
  context.emit(Normalize{Normalization::rms, elements, elements / width, true, false, 0});
  emit_elementwise(context, ElementFunction::swish, elements);
  emit_elementwise(context, ElementFunction::multiply, elements);
}

// Inputs: X in int8, its scale, scale, shift, scale of Y.
void qordered_layer_normalization(NodeContext& context) {
  const Shape& data = context.shape(0);
  const std::size_t axis = context.axis(context.integer("axis", -1), data.size());
  const std::int64_t elements = element_count(data);
  context.set(0, context.type(0), data);
  const ElementType type = first_known_type(context, {2, 1});
  emit_in(context, Elementwise{ElementFunction::dequantize, elements}, type);
  emit_in(context,
          Normalize{Normalization::layer, elements, extent(context, data, 0, axis), true, false, 0},
          type);
  emit_in(context, Elementwise{ElementFunction::quantize, elements}, type);
}

}  // namespace

std::span<const Operator> skip_normalization_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "GatedRMSNorm", gated_rms_norm},
      {"com.microsoft", "GroupNorm", group_norm},
      {"com.microsoft", "QOrderedLayerNormalization", qordered_layer_normalization},
      {"com.microsoft", "SkipGroupNorm", skip_group_norm},
      {"com.microsoft", "SkipLayerNormalization", skip_layer_normalization},
      {"com.microsoft", "SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization},
  };
  return rows;
}

}  // namespace ridgeline::onnx
