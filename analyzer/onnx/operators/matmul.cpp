// Floating-point matrix products: MatMul, Gemm and their fused forms. For integers and packed
// weights see onnx/operators/matmul_quantized.cpp.
#include "analyzer/onnx/operators/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {

MatrixProduct matrix_product(const NodeContext& context, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty())
    context.fail(fmt::format("a scalar is not a matrix: operands are {} and {}", to_string(a),
                             to_string(b)));
  const std::int64_t k = a.back();
  const std::int64_t k_of_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (k != k_of_b)
    context.fail(fmt::format("{} by {}: the left has {} columns, the right {} rows", to_string(a),
                             to_string(b), k, k_of_b));
  const Shape batch_a(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  const Shape batch_b(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));

  MatrixProduct product;
  product.shape = broadcast_shapes(context, batch_a, batch_b);
  product.op.batch = multiplied(context, product.shape);
  product.op.k = k;
  product.op.m = a.size() == 1 ? 1 : a[a.size() - 2];
  product.op.n = b.size() == 1 ? 1 : b.back();
  if (a.size() > 1) product.shape.push_back(product.op.m);
  if (b.size() > 1) product.shape.push_back(product.op.n);
  if (multiplied(context, batch_b) == 1) {
    product.op.m = multiplied(context, {product.op.m, product.op.batch});
    product.op.batch = 1;
  }
  return product;
}

MatrixProduct general_product(const NodeContext& context, const Shape& a, const Shape& b,
                              std::size_t bias) {
  if (a.size() != 2 || b.size() != 2)
    context.fail(
        fmt::format("operands {} and {} are not both matrices", to_string(a), to_string(b)));
  const bool transpose_a = context.integer("transA", 0) != 0;
  const bool transpose_b = context.integer("transB", 0) != 0;
  MatrixProduct product;
  product.op.m = a[transpose_a ? 1 : 0];
  product.op.k = a[transpose_a ? 0 : 1];
  product.op.n = b[transpose_b ? 0 : 1];
  const std::int64_t k_of_b = b[transpose_b ? 1 : 0];
  if (product.op.k != k_of_b)
    context.fail(fmt::format("{}{} by {}{}: the left has {} columns, the right {} rows",
                             to_string(a), transpose_a ? " transposed" : "", to_string(b),
                             transpose_b ? " transposed" : "", product.op.k, k_of_b));
  product.shape = {product.op.m, product.op.n};
  product.op.bias = context.has(bias);
  if (product.op.bias) want_broadcastable_to(context, bias, product.shape);
  return product;
}

MatrixProduct packed_product(const NodeContext& context, const Shape& a, std::int64_t k,
                             std::int64_t n) {
  if (k < 0 || n < 0) context.fail(fmt::format("packed weights of {} by {}", k, n));
  return matrix_product(context, a, {k, n});
}

namespace {

void matmul(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  context.set(0, first_known_type(context, {0, 1}), std::move(product.shape));
  context.emit(product.op);
}

// alpha scales the product, beta the third operand.
int count_scalings(const NodeContext& context, bool has_third) {
  const bool alpha = context.real("alpha", 1) != 1;
  const bool beta = has_third && context.real("beta", 1) != 1;
  return (alpha ? 1 : 0) + (beta ? 1 : 0);
}

// Before opset 7 the third operand was broadcast only with an attribute, in the same way. It is
// optional since opset 11.
void gemm(NodeContext& context) {
  MatrixProduct product = general_product(context, context.shape(0), context.shape(1), 2);
  product.op.scalings = count_scalings(context, product.op.bias);
  context.set(0, first_known_type(context, {0, 1}), product.shape);
  context.emit(product.op);
  emit_activation(context, context.text("activation", ""), element_count(product.shape));
}

// An operand of FusedMatMul after its transpositions.
Shape transposed_operand(const NodeContext& context, std::size_t input,
                         std::string_view transpose_name, std::string_view batch_name) {
  Shape shape = context.shape(input);
  if (shape.size() < 2) return shape;
  // The first dimension moves behind the batch dimensions.
  if (context.integer(batch_name, 0) != 0)
    std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
  if (context.integer(transpose_name, 0) != 0) std::swap(shape.back(), shape[shape.size() - 2]);
  return shape;
}

// FusedMatMul, TransposeMatMul, FusedMatMulActivation, SparseToDenseMatMul.
void fused_matmul(NodeContext& context) {
  MatrixProduct product =
      matrix_product(context, transposed_operand(context, 0, "transA", "transBatchA"),
                     transposed_operand(context, 1, "transB", "transBatchB"));
  product.op.scalings = count_scalings(context, false);
  context.set(0, first_known_type(context, {0, 1}), product.shape);
  context.emit(product.op);
  emit_activation(context, context.text("activation", ""), element_count(product.shape));
}

void gemm_fast_gelu(NodeContext& context) {
  MatrixProduct product = matrix_product(context, context.shape(0), context.shape(1));
  product.op.bias = context.has(2);
  if (product.op.bias) want_broadcastable_to(context, 2, product.shape);
  context.set(0, context.type(0), product.shape);
  context.emit(product.op);
  emit_elementwise(context, ElementFunction::gelu_tanh, element_count(product.shape));
}

// Inputs: A, B, C, scales of A, B and Y.
void gemm_float8(NodeContext& context) {
  MatrixProduct product = general_product(context, context.shape(0), context.shape(1), 2);
  product.op.scalings = count_scalings(context, product.op.bias);
  const ElementType type = element_type(context.integer("dtype", 1));
  context.set(0, type, product.shape);
  emit_in(context, product.op, context.type(0));
  emit_activation(context, context.text("activation", ""), element_count(product.shape));
}

}  // namespace

std::span<const Operator> matmul_operators() {
  static constexpr Operator rows[] = {
      {"", "MatMul", matmul},
      {"", "Gemm", gemm},
      {"com.microsoft", "FusedGemm", gemm},
      {"com.microsoft", "FusedMatMul", fused_matmul},
      {"com.microsoft", "FusedMatMulActivation", fused_matmul},
      {"com.microsoft", "TransposeMatMul", fused_matmul},
      {"com.microsoft", "SparseToDenseMatMul", fused_matmul},
      {"com.microsoft", "GemmFastGelu", gemm_fast_gelu},
      {"com.microsoft", "GemmFloat8", gemm_float8},
  };
  return rows;
}

}  // namespace ridgeline::onnx
