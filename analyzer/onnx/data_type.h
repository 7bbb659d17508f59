// DataType: ONNX's numbers for element types, in tensors and in attributes such as `to` of Cast.
// For the storage of each type see analyzer/graph/element_type.h.
#pragma once

#include <cstdint>

#include "analyzer/graph/element_type.h"

namespace ridgeline::onnx {

// TensorProto.DataType as an ElementType; `unknown` for numbers that ONNX does not define.
ElementType element_type(std::int64_t data_type);

}  // namespace ridgeline::onnx
