// Value: what is known of one tensor while a graph is walked: type, shape, perhaps its elements.
// Becomes a Tensor of the Graph when the walk is done.
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
  // A sequence of tensors; how many it holds where that is known. An optional that holds a tensor
  // is that tensor.
  bool is_sequence = false;
  std::optional<std::int64_t> sequence_length;

  ShapeSource source = ShapeSource::unknown;  // set together with shape
  bool constant = false;        // depends on no graph input: weights and what is made of them
  bool from_shapes = false;     // depends on shapes and constants only (Shape and what follows)
  bool is_initializer = false;  // stands in the file as data
  bool is_parameter = false;    // see Tensor
  const TensorProto* proto = nullptr;  // where its elements are in the file, if they are
  // Elements: computed from other contents, or read from the proto when first asked for.
  std::optional<Contents> contents;
  // The weight that this is another form of (transposed, dequantised …): one parameter, not two.
  const Value* root = nullptr;
};

}  // namespace ridgeline::onnx
