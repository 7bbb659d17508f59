// com.microsoft's element-wise operators on quantised tensors, and a few on floats that fit no
// other family. The quantised ones widen their operands, compute in floats and quantise the result.
#include <fmt/format.h>

#include <vector>

#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

void emit_quantized(NodeContext& context, const std::vector<std::size_t>& operands,
                    ElementFunction function, std::int64_t elements) {
  for (const std::size_t operand : operands)
    emit_in(context,
            Elementwise{ElementFunction::dequantize, element_count(context.shape(operand))},
            ElementType::fp32);
  emit_in(context, Elementwise{function, elements}, ElementType::fp32);
  emit_in(context, Elementwise{ElementFunction::quantize, elements}, ElementType::fp32);
}

// Inputs: A, scale, zero point, B, scale, zero point, scale and zero point of C.
template <ElementFunction function>
void qlinear_binary(NodeContext& context) {
  const Shape shape = broadcast_inputs(context, {0, 3});
  context.set(0, context.type(0), shape);
  emit_quantized(context, {0, 3}, function, element_count(shape));
}

// Inputs: X, scale, zero point, scale and zero point of Y.
template <ElementFunction function>
void qlinear_unary(NodeContext& context) {
  const Shape& shape = context.shape(0);
  context.set(0, context.type(0), shape);
  emit_quantized(context, {0}, function, element_count(shape));
}

// Inputs: condition, X, scale, zero point, Y, scale, zero point, scale and zero point of Z.
void qlinear_where(NodeContext& context) {
  const Shape shape = broadcast_inputs(context, {0, 1, 4});
  context.set(0, context.type(1), shape);
  emit_quantized(context, {1, 4}, ElementFunction::where, element_count(shape));
}

// Inputs: scale and zero point of Y, then a tensor, its scale and its zero point, repeatedly.
void qlinear_concat(NodeContext& context) {
  const std::size_t inputs = context.input_count();
  if (inputs < 5 || (inputs - 2) % 3 != 0)
    context.fail(fmt::format("{} inputs are not two and three for each operand", inputs));
  Shape shape = context.shape(2);
  const Attribute* attribute = context.attribute("axis");
  if (attribute == nullptr) context.fail("axis is missing");
  const std::size_t axis = context.axis(attribute->i, shape.size());
  std::int64_t size = 0;
  for (std::size_t input = 2; input < inputs; input += 3) {
    Shape operand = context.shape(input);
    if (operand.size() == shape.size()) {
      size += operand[axis];
      operand[axis] = shape[axis];
    }
    if (operand != shape)
      context.fail(fmt::format("{} and {} differ beside axis {}", named(context, 2),
                               named(context, input), axis));
  }
  shape[axis] = size;
  context.set(0, first_known_type(context, {1, 2}), shape);
  const std::int64_t elements = element_count(shape);
  emit_in(context, Elementwise{ElementFunction::dequantize, elements}, ElementType::fp32);
  emit_in(context, Elementwise{ElementFunction::quantize, elements}, ElementType::fp32);
}

// Inputs: A, zero point, B, zero point. The result is int32.
void mul_integer(NodeContext& context) {
  const Shape shape = broadcast_inputs(context, {0, 2});
  context.set(0, ElementType::int32, shape);
  emit_in(context, Elementwise{ElementFunction::multiply, element_count(shape)}, context.type(0));
}

// Real and imaginary parts alternate along the last axis: six operations for two elements.
void complex_mul(NodeContext& context) {
  const Shape shape = broadcast_inputs(context, {0, 1});
  context.set(0, context.type(0), shape);
  const std::int64_t elements = element_count(shape);
  for (int i = 0; i < 2; ++i) emit_elementwise(context, ElementFunction::multiply, elements);
  emit_elementwise(context, ElementFunction::add, elements);
}

// Inputs: X, Y, gate. X + Y·gate.
void gated_add(NodeContext& context) {
  const Shape& shape = context.shape(0);
  want_broadcastable_to(context, 1, shape);
  want_broadcastable_to(context, 2, shape);
  context.set(0, context.type(0), shape);
  emit_elementwise(context, ElementFunction::multiply, element_count(shape));
  emit_elementwise(context, ElementFunction::add, element_count(shape));
}

// Distances of every row of A to every row of B; Euclidean ones as a matrix product.
void cdist(NodeContext& context) {
  want_rank(context, 0, 2);
  want_rank(context, 1, 2);
  const std::int64_t m = context.dimension(0, 0), n = context.dimension(1, 0);
  const std::int64_t k = context.dimension(0, 1);
  if (context.dimension(1, 1) != k)
    context.fail(fmt::format("{} and {} have rows of different length", named(context, 0),
                             named(context, 1)));
  context.set(0, context.type(0), {m, n});
  const std::int64_t out = multiplied(context, {m, n});
  const std::string_view metric = context.text("metric", "sqeuclidean");
  if (metric == "euclidean" || metric == "sqeuclidean") {
    // |a|² − 2·a·b + |b|².
    context.emit(Reduce{Reduction::sum_square, multiplied(context, {m, k}), m});
    context.emit(Reduce{Reduction::sum_square, multiplied(context, {n, k}), n});
    MatMul product;
    product.m = m;
    product.n = n;
    product.k = k;
    product.scalings = 1;
    context.emit(product);
    for (int i = 0; i < 2; ++i) emit_elementwise(context, ElementFunction::add, out);
    if (metric == "euclidean") emit_elementwise(context, ElementFunction::sqrt, out);
    return;
  }
  const std::int64_t pairs = multiplied(context, {out, k});
  emit_elementwise(context, ElementFunction::subtract, pairs);
  context.emit(Reduce{Reduction::l1, pairs, out});
}

}  // namespace

std::span<const Operator> quantized_elementwise_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "QLinearAdd", qlinear_binary<ElementFunction::add>},
      {"com.microsoft", "QLinearMul", qlinear_binary<ElementFunction::multiply>},
      {"com.microsoft", "QLinearSigmoid", qlinear_unary<ElementFunction::sigmoid>},
      {"com.microsoft", "QLinearLeakyRelu", qlinear_unary<ElementFunction::leaky_relu>},
      {"com.microsoft", "QLinearWhere", qlinear_where},
      {"com.microsoft", "QLinearConcat", qlinear_concat},
      {"com.microsoft", "MulInteger", mul_integer},
      {"com.microsoft", "ComplexMul", complex_mul},
      {"com.microsoft", "ComplexMulConj", complex_mul},
      {"com.microsoft", "GatedAdd", gated_add},
      {"com.microsoft", "CDist", cdist},
  };
  return rows;
}

}  // namespace ridgeline::onnx
