// The enum TensorProto.DataType of onnx/onnx.proto (onnx f754691, IR version 14), in its order.
// Only the mapping; tensor_data.cpp decodes elements.
#include "analyzer/onnx/data_type.h"

#include <iterator>

namespace ridgeline::onnx {
namespace {

constexpr ElementType data_types[] = {
    ElementType::unknown,       // 0 UNDEFINED
    ElementType::fp32,          // 1 FLOAT
    ElementType::uint8,         // 2
    ElementType::int8,          // 3
    ElementType::uint16,        // 4
    ElementType::int16,         // 5
    ElementType::int32,         // 6
    ElementType::int64,         // 7
    ElementType::string,        // 8
    ElementType::boolean,       // 9
    ElementType::fp16,          // 10
    ElementType::fp64,          // 11 DOUBLE
    ElementType::uint32,        // 12
    ElementType::uint64,        // 13
    ElementType::complex64,     // 14
    ElementType::complex128,    // 15
    ElementType::bf16,          // 16
    ElementType::fp8_e4m3fn,    // 17
    ElementType::fp8_e4m3fnuz,  // 18
    ElementType::fp8_e5m2,      // 19
    ElementType::fp8_e5m2fnuz,  // 20
    ElementType::uint4,         // 21
    ElementType::int4,          // 22
    ElementType::fp4_e2m1,      // 23
    ElementType::fp8_e8m0,      // 24
    ElementType::uint2,         // 25
    ElementType::int2,          // 26
};

}  // namespace

ElementType element_type(std::int64_t data_type) {
  if (data_type < 0 || data_type >= static_cast<std::int64_t>(std::size(data_types)))
    return ElementType::unknown;
  return data_types[data_type];
}

}  // namespace ridgeline::onnx
