// Matrix products for rules: from two shapes to the output's shape and the MatMul. The rule chooses
// the type (floats, integers, packed weights).
#pragma once

#include "analyzer/graph/op.h"
#include "analyzer/graph/shape.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

struct MatrixProduct {
  Shape shape;
  MatMul op;
};

// As numpy.matmul: a vector is a row on the left and a column on the right, leading dimensions
// broadcast. If the whole batch shares the right operand, the batch is part of m.
MatrixProduct matrix_product(const NodeContext& context, const Shape& a, const Shape& b);

// Product of two matrices, each optionally transposed; `bias` is the input added, if the node has
// it.
MatrixProduct general_product(const NodeContext& context, const Shape& a, const Shape& b,
                              std::size_t bias);

// Activations …×k by weights k×n, packed in another shape.
MatrixProduct packed_product(const NodeContext& context, const Shape& a, std::int64_t k,
                             std::int64_t n);

}  // namespace ridgeline::onnx
