// Matrix products of integers, and of floating-point activations with packed weights. Packed
// weights are widened as they are read: arithmetic in the activations' type, bytes of the packed
// tensor.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/matmul.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

void matmul_integer(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  context.set(0, ElementType::int32, std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

void matmul_integer16(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  const bool is_unsigned =
      context.type(0) == ElementType::uint16 && context.type(1) == ElementType::uint16;
  context.set(0, is_unsigned ? ElementType::uint32 : ElementType::int32, std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

// Inputs: a, scale, zero point, b, scale, zero point, scale of y, zero point of y.
void qlinear_matmul(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(3));
  context.set(0, first_known_type(context, {7, 0}), std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

// Inputs: A, B, scales, zero points, bias. An int8 product, scaled to floats.
void matmul_integer_to_float(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  const std::int64_t elements = element_count(product.shape);
  context.set(0, context.type(2), product.shape);
  emit_in(context, product.op, context.type(0));
  emit_in(context, Elementwise{ElementFunction::multiply, elements}, context.type(2));
  if (context.has(6)) {
    want_broadcastable_to(context, 6, product.shape);
    emit_in(context, Elementwise{ElementFunction::add, elements}, context.type(2));
  }
}

// Inputs: A in floats, quantised by its own range; B, scale, zero point, bias.
void dynamic_quantize_matmul(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  const std::int64_t elements = element_count(product.shape);
  const std::int64_t in_elements = element_count(context.shape(0));
  const ElementType type = context.type(0);
  context.set(0, type, product.shape);
  emit_in(context, Reduce{Reduction::min, in_elements, 1}, type);
  emit_in(context, Reduce{Reduction::max, in_elements, 1}, type);
  emit_in(context, Elementwise{ElementFunction::quantize, in_elements}, type);
  emit_in(context, product.op, context.type(1));
  emit_in(context, Elementwise{ElementFunction::multiply, elements}, type);
  if (context.has(4)) {
    want_broadcastable_to(context, 4, product.shape);
    emit_in(context, Elementwise{ElementFunction::add, elements}, type);
  }
}

// Inputs: A, scale, zero point, B, scale, zero point, C, scale and zero point of Y. The result is
// floating-point without the last two.
void qgemm(NodeContext& context) {
  MatrixProduct product = general_product(context, context.shape(0), context.shape(3), 6);
  const bool quantized = context.has(8);
  context.set(0, quantized ? context.type(8) : context.type(1), product.shape);
  emit_in(context, product.op, context.type(0));
  if (!quantized)
    emit_in(context, Elementwise{ElementFunction::multiply, element_count(product.shape)},
            context.type(1));
}

// Inputs: A, scale, B, scale, scale of Y, bias, C, scale of C. B is k×n whatever its order in
// memory.
void qordered_matmul(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(2));
  product.op.bias = context.has(5);
  product.op.scalings = context.has(6) ? 1 : 0;
  const std::int64_t elements = element_count(product.shape);
  context.set(0, context.type(0), product.shape);
  emit_in(context, product.op, context.type(0));
  if (context.has(6))
    emit_in(context, Elementwise{ElementFunction::add, elements}, context.type(0));
}

std::int64_t positive_attribute(const NodeContext& context, std::string_view name) {
  const std::int64_t value = context.integer(name, 0);
  if (value < 1 || value > max_dimension)
    context.fail(fmt::format("its attribute {} is {}", name, value));
  return value;
}

// An Error if the packed tensor is too small for the file's K, N and bits.
void want_packed(NodeContext& context, std::size_t input, std::int64_t values,
                 std::int64_t value_bits) {
  const auto bytes = storage_bytes(context.type(input), element_count(context.shape(input)));
  if (bytes && *bytes * 8 < static_cast<double>(values) * static_cast<double>(value_bits))
    context.fail(fmt::format("{} is too small for {} weights of {} bits", named(context, input),
                             values, value_bits));
  context.packs(input, values);
}

std::int64_t weight_bits(const NodeContext& context) {
  const std::int64_t value_bits = context.integer("bits", 4);
  if (value_bits < 1 || value_bits > 8) context.fail(fmt::format("weights of {} bits", value_bits));
  return value_bits;
}

// Inputs: A, B packed, scales, zero points, group indices, bias.
void matmul_nbits(NodeContext& context) {
  const std::int64_t k = positive_attribute(context, "K");
  const std::int64_t n = positive_attribute(context, "N");
  want_packed(context, 1, multiplied(context, {k, n}), weight_bits(context));
  for (const std::size_t scales : {2U, 3U, 4U}) context.not_trained(scales);
  MatrixProduct product = packed_product(context, context.shape(0), k, n);
  product.op.bias = context.has(5);
  if (product.op.bias) want_broadcastable_to(context, 5, product.shape);
  context.set(0, context.type(0), std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

// Inputs: A, B packed, absolute maxima of blocks. The weights are N×K, transposed unless transB is
// 0.
void matmul_bnb4(NodeContext& context) {
  std::int64_t k = positive_attribute(context, "K");
  std::int64_t n = positive_attribute(context, "N");
  want_packed(context, 1, multiplied(context, {k, n}), 4);
  context.not_trained(2);
  if (context.integer("transB", 1) == 0) std::swap(k, n);
  MatrixProduct product = packed_product(context, context.shape(0), k, n);
  context.set(0, context.type(0), std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

// Inputs: A, B packed, shape of B.
void matmul_fpq4(NodeContext& context) {
  context.not_data(2);
  const std::vector<std::int64_t> shape = context.needed_integers(2);
  if (shape.size() != 2) context.fail(fmt::format("the packed matrix has rank {}", shape.size()));
  MatrixProduct product = packed_product(context, context.shape(0), shape[0], shape[1]);
  context.set(0, context.type(0), std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

// Weights N×K (fp8), or N×K/2 bytes of two fp4 each; `bias` is the input's index.
void blockwise(NodeContext& context, std::int64_t weights_per_element, std::size_t bias) {
  want_rank(context, 1, 2);
  const std::int64_t k = multiplied(context, {context.dimension(1, 1), weights_per_element});
  const std::int64_t n = context.dimension(1, 0);
  MatrixProduct product = packed_product(context, context.shape(0), k, n);
  product.op.bias = context.has(bias);
  if (product.op.bias) want_broadcastable_to(context, bias, product.shape);
  context.set(0, context.type(0), std::move(product.shape));
  emit_in(context, product.op, context.type(0));
}

void matmul_fp8_weight(NodeContext& context) { blockwise(context, 1, 4); }
void matmul_fp4_weight(NodeContext& context) { blockwise(context, 2, 5); }

// Common start of both fused projections: A + skip, normalised with a scale (inputs 0 to 2). The
// sum of A and skip is the output after those of the projections.
void emit_normalized_input(NodeContext& context, std::int64_t k, std::size_t sum_output) {
  const Shape& shape = context.shape(0);
  const std::int64_t elements = element_count(shape);
  if (context.has(1)) {
    want_shape(context, 1, shape);
    emit_elementwise(context, ElementFunction::add, elements);
    context.set(sum_output, context.type(0), shape);
  }
  if (context.has(2)) {
    want_vector(context, 2, k, "input features");
    context.emit(Normalize{Normalization::rms, elements, elements / k, true, false, 0});
  }
}

MatrixProduct emit_projection(NodeContext& context, std::size_t weights, std::int64_t k,
                              std::int64_t n) {
  want_packed(context, weights, multiplied(context, {k, n}), weight_bits(context));
  context.not_trained(weights + 1);
  MatrixProduct product = packed_product(context, context.shape(0), k, n);
  product.op.bias = context.has(weights + 2);
  context.emit(product.op);
  return product;
}

// Inputs: A, skip, norm scale, then packed weights, scales and bias for each of gate and up.
void matmul_nbits_mlp(NodeContext& context) {
  const std::int64_t k = positive_attribute(context, "K");
  const std::int64_t n = positive_attribute(context, "N");
  emit_normalized_input(context, k, 1);
  const MatrixProduct product = emit_projection(context, 3, k, n);
  emit_projection(context, 6, k, n);
  emit_activation(context, context.text("activation", ""), element_count(product.shape));
  emit_elementwise(context, ElementFunction::multiply, element_count(product.shape));
  context.set(0, context.type(0), product.shape);
}

// Inputs: A, skip, norm scale, then packed weights, scales and bias for each of q, k and v.
void matmul_nbits_qkv(NodeContext& context) {
  const std::int64_t k = positive_attribute(context, "K");
  const std::int64_t n_q = positive_attribute(context, "Nq");
  const std::int64_t n_kv = positive_attribute(context, "Nkv");
  emit_normalized_input(context, k, 3);
  context.set(0, context.type(0), emit_projection(context, 3, k, n_q).shape);
  context.set(1, context.type(0), emit_projection(context, 6, k, n_kv).shape);
  context.set(2, context.type(0), emit_projection(context, 9, k, n_kv).shape);
}

}  // namespace

std::span<const Operator> matmul_quantized_operators() {
  static constexpr Operator rows[] = {
      {"", "MatMulInteger", matmul_integer},
      {"", "QLinearMatMul", qlinear_matmul},
      {"com.microsoft", "DynamicQuantizeMatMul", dynamic_quantize_matmul},
      {"com.microsoft", "MatMulBlockQuantizedFp4Weight", matmul_fp4_weight},
      {"com.microsoft", "MatMulBlockQuantizedFp8Weight", matmul_fp8_weight},
      {"com.microsoft", "MatMulBnb4", matmul_bnb4},
      {"com.microsoft", "MatMulFpQ4", matmul_fpq4},
      {"com.microsoft", "MatMulInteger16", matmul_integer16},
      {"com.microsoft", "MatMulIntegerToFloat", matmul_integer_to_float},
      {"com.microsoft", "MatMulNBits", matmul_nbits},
      {"com.microsoft", "MatMulNBitsMlp", matmul_nbits_mlp},
      {"com.microsoft", "MatMulNBitsQkv", matmul_nbits_qkv},
      {"com.microsoft", "QGemm", qgemm},
      {"com.microsoft", "QOrderedMatMul", qordered_matmul},
  };
  return rows;
}

}  // namespace ridgeline::onnx
