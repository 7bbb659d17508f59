// Value: what the walk has found out about one tensor: type, shape, perhaps its elements. Becomes a
// Tensor of the Graph at the end of the walk.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/graph.h"
#include "analyzer/graph/shape.h"
#include "analyzer/onnx/contents.h"
#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

struct Value {
  TensorId id = 0;        // of the Tensor that this becomes
  std::string_view name;  // lives in the file
  ElementType type = ElementType::unknown;
  std::optional<Shape> shape;  // of the tensor, or of every tensor in a sequence
  // A sequence of tensors, and its length if known. An optional that holds a tensor is that tensor.
  bool is_sequence = false;
  std::optional<std::int64_t> sequence_length;

  ShapeSource source = ShapeSource::unknown;  // set together with shape
  bool constant = false;     // independent of graph inputs: weights and values computed from them
  bool from_shapes = false;  // depends on shapes and constants only (Shape and what follows)
  bool is_initializer = false;         // stored in the file as data
  bool is_parameter = false;           // see Tensor
  bool is_table = false;               // see Tensor
  bool is_operand = false;             // element-wise layers read it: a parameter or a table
  bool is_literal = false;             // of a Constant node
  std::optional<std::int64_t> packed;  // see Tensor
  const TensorProto* proto = nullptr;  // location of its elements in the file, if any
  bool from_batch = false;             // depends on data of an input whose batch was changed
  // Elements: computed from other contents, or read from the proto on first use.
  std::optional<Contents> contents;
  // The weight that this is a form of (transposed, dequantised …), so that both are one parameter.
  const Value* root = nullptr;
};

}  // namespace ridgeline::onnx
