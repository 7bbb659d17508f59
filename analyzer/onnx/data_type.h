// DataType: the numbers by which ONNX names element types, in tensors and in attributes such as
// `to` of Cast. What such a type stores is in analyzer/graph/element_type.h.
#pragma once

#include <cstdint>

#include "analyzer/graph/element_type.h"

namespace ridgeline::onnx {

// TensorProto.DataType as an ElementType; a number that ONNX does not define is `unknown`.
ElementType element_type(std::int64_t data_type);

}  // namespace ridgeline::onnx
