// Decodes elements; onnx.proto's comments on TensorProto define which field holds which type. Typed
// fields are converted to the form of raw_data first, so that each type has one decoder.
#include "analyzer/onnx/tensor_data.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/text.h"

namespace ridgeline::onnx {
namespace {

// Meaning of the codes at the end of the range.
enum class Specials { infinities_and_nans, nans, nan_for_negative_zero, none };

struct SmallFloat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
};

long double decode_float(const SmallFloat& format, std::uint64_t code) {
  const int sign_bit = format.exponent_bits + format.mantissa_bits;
  const std::uint64_t mantissa = code & ((1U << format.mantissa_bits) - 1);
  const std::uint64_t all_ones = (1U << format.exponent_bits) - 1;
  const std::uint64_t exponent = (code >> format.mantissa_bits) & all_ones;
  const bool negative = ((code >> sign_bit) & 1U) != 0;
  const auto nan = std::numeric_limits<long double>::quiet_NaN();
  const long double sign = negative ? -1 : 1;
  if (exponent == all_ones) {
    if (format.specials == Specials::infinities_and_nans)
      return mantissa != 0 ? nan : sign * std::numeric_limits<long double>::infinity();
    if (format.specials == Specials::nans && mantissa == (1U << format.mantissa_bits) - 1)
      return nan;
  }
  if (format.specials == Specials::nan_for_negative_zero && code == 1U << sign_bit) return nan;
  // Subnormal: no implicit leading one.
  const std::uint64_t leading_one = exponent == 0 ? 0 : 1U << format.mantissa_bits;
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias;
  return sign *
         std::ldexp(static_cast<long double>(leading_one + mantissa), power - format.mantissa_bits);
}

long double decode_signed(std::uint64_t code, int width) {
  const int unused = 64 - width;
  return static_cast<long double>(static_cast<std::int64_t>(code << unused) >> unused);
}

// One element from its bits.
Element decode_element(ElementType type, std::uint64_t code) {
  switch (type) {
    case ElementType::fp64:
      return std::bit_cast<double>(code);
    case ElementType::fp32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(code));
    case ElementType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
    case ElementType::fp16:
      return decode_float({5, 10, 15, Specials::infinities_and_nans}, code);
    case ElementType::fp8_e4m3fn:
      return decode_float({4, 3, 7, Specials::nans}, code);
    case ElementType::fp8_e4m3fnuz:
      return decode_float({4, 3, 8, Specials::nan_for_negative_zero}, code);
    case ElementType::fp8_e5m2:
      return decode_float({5, 2, 15, Specials::infinities_and_nans}, code);
    case ElementType::fp8_e5m2fnuz:
      return decode_float({5, 2, 16, Specials::nan_for_negative_zero}, code);
    case ElementType::fp8_e8m0:  // powers of two only
      return code == 255 ? std::numeric_limits<long double>::quiet_NaN()
                         : std::ldexp(1.0L, static_cast<int>(code) - 127);
    case ElementType::fp4_e2m1:
      return decode_float({2, 1, 1, Specials::none}, code);
    case ElementType::int64:
    case ElementType::int32:
    case ElementType::int16:
    case ElementType::int8:
    case ElementType::int4:
    case ElementType::int2:
      return decode_signed(code, bits(type));
    case ElementType::uint64:
    case ElementType::uint32:
    case ElementType::uint16:
    case ElementType::uint8:
    case ElementType::uint4:
    case ElementType::uint2:
      return static_cast<long double>(code);
    case ElementType::boolean:
      return code != 0 ? 1 : 0;
    case ElementType::complex64:
    case ElementType::complex128:
    case ElementType::string:
    case ElementType::unknown:
      break;
  }
  return std::nullopt;
}

// The bits of element i; types below a byte are packed from the lowest bits up.
std::uint64_t code_of(std::string_view bytes, int width, std::size_t i) {
  if (width >= 8) {
    const auto size = static_cast<std::size_t>(width / 8);
    std::uint64_t code = 0;
    std::memcpy(&code, bytes.data() + i * size, size);
    return code;
  }
  const std::size_t bit = i * static_cast<std::size_t>(width);
  const auto byte = static_cast<unsigned char>(bytes[bit / 8]);
  return (byte >> (bit % 8)) & ((1U << width) - 1);
}

// Appends the values of a typed field in the form of raw_data.
void append_raw(const Wire& wire, const TypedField& field, ElementType type, std::string& raw) {
  if (field.encoding != ValueEncoding::varint) {
    raw += wire.fixed_values(fixed_bytes(field.encoding));
    return;
  }
  std::vector<std::int64_t> values;
  wire.append_integers(values);
  const std::size_t size = bits(type) < 8 ? 1 : static_cast<std::size_t>(bits(type) / 8);
  for (const std::int64_t value : values)
    raw.append(reinterpret_cast<const char*>(&value), size);  // the low bytes
}

}  // namespace

std::optional<std::size_t> typed_field_of(ElementType type) {
  switch (type) {
    case ElementType::fp32:
    case ElementType::complex64:
      return 0;
    case ElementType::string:
      return 2;
    case ElementType::int64:
      return 3;
    case ElementType::fp64:
    case ElementType::complex128:
      return 4;
    case ElementType::uint32:
    case ElementType::uint64:
      return 5;
    case ElementType::unknown:
      return std::nullopt;
    default:
      return 1;
  }
}

std::uint64_t typed_values(ElementType type, std::int64_t elements) {
  const auto count = static_cast<std::uint64_t>(elements);
  if (type == ElementType::complex64 || type == ElementType::complex128) return 2 * count;
  const int width = bits(type);
  if (width == 0 || width >= 8) return count;
  const auto per_value = static_cast<std::uint64_t>(8 / width);
  return count / per_value + (count % per_value != 0 ? 1 : 0);
}

bool may_have_contents(const TensorProto& tensor) {
  return bits(tensor.type) > 0 && tensor.type != ElementType::complex64 &&
         tensor.type != ElementType::complex128 &&
         tensor.elements <= static_cast<std::int64_t>(max_contents);
}

Contents decode_raw(const TensorProto& tensor, std::string_view bytes) {
  const auto count = static_cast<std::size_t>(tensor.elements);
  Contents contents;
  contents.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    contents.push_back(decode_element(tensor.type, code_of(bytes, bits(tensor.type), i)));
  return contents;
}

std::optional<Contents> decode_message(const TensorProto& tensor, const WireSource& source) {
  if (!may_have_contents(tensor)) return std::nullopt;
  if (tensor.elements == 0) return Contents{};
  if (!tensor.raw.empty()) {  // the reader has checked the length
    source.load(tensor.raw.data(), tensor.raw.size());
    return decode_raw(tensor, tensor.raw);
  }
  const TypedField& typed = typed_fields[typed_field_of(tensor.type).value()];
  std::string bytes;
  Wire wire(tensor.message, "TensorProto", source);
  while (wire.next())
    if (wire.field() == typed.number) append_raw(wire, typed, tensor.type, bytes);
  if (bytes.empty()) return std::nullopt;
  const double needed = storage_bytes(tensor.type, tensor.elements).value();
  if (static_cast<double>(bytes.size()) != needed)
    wire.fail(fmt::format("tensor {}: {} of {} needs {:.0f} bytes, its values give {}",
                          quote(tensor.name), to_string(tensor.shape()), to_string(tensor.type),
                          needed, bytes.size()));
  return decode_raw(tensor, bytes);
}

}  // namespace ridgeline::onnx
