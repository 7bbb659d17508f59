// Matrix products as rules see them: two shapes in, the output's shape and the MatMul out.
// Who multiplies (floats, integers, packed weights) is the rule's business.
#pragma once

#include "analyzer/graph/op.h"
#include "analyzer/graph/shape.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

struct MatrixProduct {
  Shape shape;
  MatMul op;
};

// As numpy.matmul: vectors are a row on the left and a column on the right, leading dimensions
// broadcast. Where the right operand is shared by the whole batch, the batch is part of m.
MatrixProduct matrix_product(const NodeContext& context, const Shape& a, const Shape& b);

// General matrix product of two matrices, each transposed or not; `bias` is the input that is
// added, where the node has it.
MatrixProduct general_product(const NodeContext& context, const Shape& a, const Shape& b,
                              std::size_t bias);

// Activations …×k by weights k×n that stand packed in another shape.
MatrixProduct packed_product(const NodeContext& context, const Shape& a, std::int64_t k,
                             std::int64_t n);

}  // namespace ridgeline::onnx
