// The table of element types: width and compute dtype. One row per storage type; a runtime may
// compute in another.
#include "analyzer/graph/element_type.h"

#include <cmath>

namespace ridgeline {
namespace {

struct Row {
  ElementType type;
  int bits;
  char kind;  // f floating, i integer, b bool, - none of these
  std::optional<DType> compute;
};

constexpr Row type_rows[] = {
    {ElementType::fp64, 64, 'f', DType::fp64},
    {ElementType::fp32, 32, 'f', DType::fp32},
    {ElementType::fp16, 16, 'f', DType::fp16},
    {ElementType::bf16, 16, 'f', DType::bf16},
    {ElementType::fp8_e4m3fn, 8, 'f', DType::fp8},
    {ElementType::fp8_e4m3fnuz, 8, 'f', DType::fp8},
    {ElementType::fp8_e5m2, 8, 'f', DType::fp8},
    {ElementType::fp8_e5m2fnuz, 8, 'f', DType::fp8},
    {ElementType::fp8_e8m0, 8, 'f', DType::fp8},
    {ElementType::fp4_e2m1, 4, 'f', DType::fp8},
    {ElementType::int64, 64, 'i', DType::int32},
    {ElementType::int32, 32, 'i', DType::int32},
    {ElementType::int16, 16, 'i', DType::int16},
    {ElementType::int8, 8, 'i', DType::int8},
    {ElementType::int4, 4, 'i', DType::int4},
    {ElementType::int2, 2, 'i', DType::int4},
    {ElementType::uint64, 64, 'i', DType::int32},
    {ElementType::uint32, 32, 'i', DType::int32},
    {ElementType::uint16, 16, 'i', DType::int16},
    {ElementType::uint8, 8, 'i', DType::int8},
    {ElementType::uint4, 4, 'i', DType::int4},
    {ElementType::uint2, 2, 'i', DType::int4},
    {ElementType::boolean, 8, 'b', DType::int8},
    {ElementType::complex64, 64, 'f', DType::fp32},
    {ElementType::complex128, 128, 'f', DType::fp64},
    {ElementType::string, 0, '-', std::nullopt},
    {ElementType::unknown, 0, '-', std::nullopt},
};

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < std::size(type_rows); ++i)
    if (static_cast<std::size_t>(type_rows[i].type) != i) return false;
  return true;
}
static_assert(are_in_order(), "rows are found by their number");

const Row& row_of(ElementType type) { return type_rows[static_cast<std::size_t>(type)]; }

}  // namespace

int bits(ElementType type) { return row_of(type).bits; }

std::optional<double> storage_bytes(ElementType type, std::int64_t elements) {
  const int width = bits(type);
  if (width == 0) return std::nullopt;
  return std::ceil(static_cast<double>(elements) * width / 8);
}

bool is_floating(ElementType type) { return row_of(type).kind == 'f'; }
bool is_integer(ElementType type) { return row_of(type).kind == 'i'; }
std::optional<DType> compute_dtype(ElementType type) { return row_of(type).compute; }

ElementType storage_type(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return ElementType::fp64;
    case DType::fp16:
      return ElementType::fp16;
    case DType::bf16:
      return ElementType::bf16;
    case DType::fp8:
      return ElementType::fp8_e4m3fn;
    case DType::fp4:
      return ElementType::fp4_e2m1;
    case DType::int32:
      return ElementType::int32;
    case DType::int16:
      return ElementType::int16;
    case DType::int8:
      return ElementType::int8;
    case DType::int4:
      return ElementType::int4;
    case DType::fp32:
    case DType::tf32:
      break;
  }
  return ElementType::fp32;
}

}  // namespace ridgeline
