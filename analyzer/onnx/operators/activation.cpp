// Activations, alone and as com.microsoft fuses them with a bias, a gate or a residual. For Relu
// see onnx/operators/unary.cpp: its elements are folded.
#include <fmt/format.h>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

template <ElementFunction function>
void activation(NodeContext& context) {
  unary_like_input(context, function);
}

// a·f(b·x).
template <ElementFunction function>
void scaled_activation(NodeContext& context) {
  activation<function>(context);
  for (int i = 0; i < 2; ++i)
    emit_elementwise(context, ElementFunction::multiply, element_count(context.shape(0)));
}

void gelu(NodeContext& context) {
  const bool by_tanh = context.text("approximate", "none") == "tanh";
  unary_like_input(context, by_tanh ? ElementFunction::gelu_tanh : ElementFunction::gelu);
}

// x·sigmoid(alpha·x).
void swish(NodeContext& context) {
  unary_like_input(context, ElementFunction::swish);
  if (context.real("alpha", 1) != 1)
    emit_elementwise(context, ElementFunction::multiply, element_count(context.shape(0)));
}

// alpha defaults to 1.702.
void quick_gelu(NodeContext& context) {
  unary_like_input(context, ElementFunction::swish);
  if (context.real("alpha", 1.702) != 1)
    emit_elementwise(context, ElementFunction::multiply, element_count(context.shape(0)));
}

void swiglu(NodeContext& context) {
  want_shape(context, 1, context.shape(0));
  swish(context);
  emit_elementwise(context, ElementFunction::multiply, element_count(context.shape(0)));
}

// Clips at two limits and adds a bias outside them.
void shrink(NodeContext& context) {
  unary_like_input(context, ElementFunction::clip);
  emit_elementwise(context, ElementFunction::add, element_count(context.shape(0)));
}

// 1 at the largest element of each row, 0 elsewhere. Before opset 13 the input is coerced to two
// dimensions.
void hardmax(NodeContext& context) {
  const Shape& data = context.shape(0);
  std::int64_t rows = 1;
  if (context.opset() < 13) {
    const std::int64_t axis = context.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(data.size());
    if (axis < -rank || axis > rank)
      context.fail(fmt::format("axis {} is outside of the {} dimensions", axis, rank));
    rows = extent(context, data, 0, static_cast<std::size_t>(axis < 0 ? axis + rank : axis));
  } else {
    Shape reduced = data;
    reduced[context.axis(context.integer("axis", -1), data.size())] = 1;
    rows = element_count(reduced);
  }
  context.set(0, context.type(0), data);
  context.emit(Reduce{Reduction::arg, element_count(data), rows});
}

// alpha·x + beta, with scalar alpha and beta.
void affine(NodeContext& context) {
  unary_like_input(context, ElementFunction::multiply);
  emit_elementwise(context, ElementFunction::add, element_count(context.shape(0)));
}

void scale(NodeContext& context) { unary_like_input(context, ElementFunction::multiply); }

// Adds an optional bias before the function.
void biased(NodeContext& context, ElementFunction function) {
  const Shape& data = context.shape(0);
  if (context.has(1)) {
    want_broadcastable_to(context, 1, data);
    emit_elementwise(context, ElementFunction::add, element_count(data));
  }
  unary_like_input(context, function);
}

void bias_gelu(NodeContext& context) { biased(context, ElementFunction::gelu); }
void fast_gelu(NodeContext& context) { biased(context, ElementFunction::gelu_tanh); }

// Inputs: X, bias, residual.
void bias_add(NodeContext& context) {
  want_broadcastable_to(context, 2, context.shape(0));
  biased(context, ElementFunction::add);
}

// The left half is multiplied by the GELU of the right half.
void bias_split_gelu(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  Shape shape = context.shape(0);
  want_broadcastable_to(context, 1, shape);
  emit_elementwise(context, ElementFunction::add, element_count(shape));
  shape.back() = divided(context, "the width of the input", shape.back(), 2);
  context.set(0, context.type(0), shape);
  emit_elementwise(context, ElementFunction::gelu, element_count(shape));
  emit_elementwise(context, ElementFunction::multiply, element_count(shape));
}

// Inputs: data, bias, residual, ratio, training mode. Nothing is dropped outside training.
void bias_dropout(NodeContext& context, ElementType mask_type, std::int64_t elements_per_mask) {
  const Shape& data = context.shape(0);
  const std::int64_t elements = element_count(data);
  want_broadcastable_to(context, 1, data);
  if (context.has(2)) want_shape(context, 2, data);
  for (const std::size_t steering : {3, 4})
    if (context.has(steering)) context.not_data(steering);
  context.set(0, context.type(0), data);
  if (elements_per_mask == 1)
    context.set(1, mask_type, data);
  else
    context.set(1, mask_type, {elements / elements_per_mask + (elements % elements_per_mask != 0)});
  emit_elementwise(context, ElementFunction::add, elements);
  if (context.has(2)) emit_elementwise(context, ElementFunction::add, elements);
  const auto training = context.known_integers(4);
  const bool drops = context.has(4) && (!training || training->empty() || training->front() != 0);
  if (drops) emit_elementwise(context, ElementFunction::dropout, elements);
}

void bias_dropout_of_bools(NodeContext& context) { bias_dropout(context, ElementType::boolean, 1); }
void bias_dropout_of_bits(NodeContext& context) { bias_dropout(context, ElementType::uint32, 32); }

// Inputs: X in int8, its scale, scale of Y.
void qordered_gelu(NodeContext& context) {
  const Shape& data = context.shape(0);
  const ElementType type = context.type(1);
  context.set(0, context.type(0), data);
  for (const ElementFunction function :
       {ElementFunction::dequantize, ElementFunction::gelu, ElementFunction::quantize})
    emit_in(context, Elementwise{function, element_count(data)}, type);
}

}  // namespace

std::span<const Operator> activation_operators() {
  static constexpr Operator rows[] = {
      {"", "LeakyRelu", activation<ElementFunction::leaky_relu>},
      {"", "ThresholdedRelu", activation<ElementFunction::relu>},
      {"", "Elu", activation<ElementFunction::elu>},
      {"", "Celu", activation<ElementFunction::elu>},
      {"", "Selu", activation<ElementFunction::elu>},
      {"", "Sigmoid", activation<ElementFunction::sigmoid>},
      {"", "HardSigmoid", activation<ElementFunction::hard_sigmoid>},
      {"", "HardSwish", activation<ElementFunction::hard_swish>},
      {"", "Tanh", activation<ElementFunction::tanh>},
      {"", "Softplus", activation<ElementFunction::softplus>},
      {"", "Softsign", activation<ElementFunction::softsign>},
      {"", "Mish", activation<ElementFunction::mish>},
      {"", "Erf", activation<ElementFunction::erf>},
      {"", "Sin", activation<ElementFunction::trigonometric>},
      {"", "Cos", activation<ElementFunction::trigonometric>},
      {"", "Tan", activation<ElementFunction::trigonometric>},
      {"", "Asin", activation<ElementFunction::trigonometric>},
      {"", "Acos", activation<ElementFunction::trigonometric>},
      {"", "Atan", activation<ElementFunction::trigonometric>},
      {"", "Sinh", activation<ElementFunction::hyperbolic>},
      {"", "Cosh", activation<ElementFunction::hyperbolic>},
      {"", "Asinh", activation<ElementFunction::hyperbolic>},
      {"", "Acosh", activation<ElementFunction::hyperbolic>},
      {"", "Atanh", activation<ElementFunction::hyperbolic>},
      {"", "Gelu", gelu},
      {"", "Swish", swish},
      {"", "SwiGLU", swiglu},
      {"", "Shrink", shrink},
      {"", "Hardmax", hardmax},
      {"", "Affine", affine},
      {"", "Scale", scale},
      {"", "ParametricSoftplus", scaled_activation<ElementFunction::softplus>},
      {"", "ScaledTanh", scaled_activation<ElementFunction::tanh>},
      {"com.microsoft", "Gelu", gelu},
      {"com.microsoft", "BiasGelu", bias_gelu},
      {"com.microsoft", "FastGelu", fast_gelu},
      {"com.microsoft", "QuickGelu", quick_gelu},
      {"com.microsoft", "QOrderedGelu", qordered_gelu},
      {"com.microsoft", "BiasAdd", bias_add},
      {"com.microsoft", "BiasSplitGelu", bias_split_gelu},
      {"com.microsoft", "BiasDropout", bias_dropout_of_bools},
      {"com.microsoft", "BitmaskBiasDropout", bias_dropout_of_bits},
  };
  return rows;
}

}  // namespace ridgeline::onnx
