// Encodings of a tensor's elements: raw bytes, or one of the typed fields of TensorProto. Decodes
// small tensors that a shape depends on.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "analyzer/onnx/contents.h"
#include "analyzer/onnx/model.h"
#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

enum class ValueEncoding { varint, fixed32, fixed64, text };

constexpr std::size_t fixed_bytes(ValueEncoding encoding) {
  return encoding == ValueEncoding::fixed64 ? 8 : 4;
}

// A repeated field of TensorProto that holds elements as values of one kind.
struct TypedField {
  std::uint32_t number;  // of the field
  std::string_view name;
  ValueEncoding encoding;
};

inline constexpr TypedField typed_fields[] = {
    {4, "float_data", ValueEncoding::fixed32},   {5, "int32_data", ValueEncoding::varint},
    {6, "string_data", ValueEncoding::text},     {7, "int64_data", ValueEncoding::varint},
    {10, "double_data", ValueEncoding::fixed64}, {11, "uint64_data", ValueEncoding::varint},
};
inline constexpr std::size_t typed_field_count = std::size(typed_fields);

// Index of the typed field for elements of a type; nothing for an unknown type.
std::optional<std::size_t> typed_field_of(ElementType type);

// Number of values in the typed field for this many elements: two per complex number, less than one
// for types below a byte.
std::uint64_t typed_values(ElementType type, std::int64_t elements);

// Whether the elements are numbers, and few enough to decode.
bool may_have_contents(const TensorProto& tensor);

// The elements of such a tensor from raw little-endian bytes, which must be complete.
Contents decode_raw(const TensorProto& tensor, std::string_view bytes);

// The elements in the tensor's own message; nothing if there are none or they are not numbers.
std::optional<Contents> decode_message(const TensorProto& tensor, const WireSource& source);

}  // namespace ridgeline::onnx
