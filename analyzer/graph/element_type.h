// ElementType: storage type of a tensor's elements, and the dtype in which a unit computes on them.
// Storage only: a runtime may compute an fp32 tensor as TF32.
#pragma once

#include <cstdint>
#include <optional>

#include "base/tokens.h"

namespace ridgeline {

enum class ElementType {
  fp64,
  fp32,
  fp16,
  bf16,
  fp8_e4m3fn,
  fp8_e4m3fnuz,
  fp8_e5m2,
  fp8_e5m2fnuz,
  fp8_e8m0,
  fp4_e2m1,
  int64,
  int32,
  int16,
  int8,
  int4,
  int2,
  uint64,
  uint32,
  uint16,
  uint8,
  uint4,
  uint2,
  boolean,
  complex64,
  complex128,
  string,
  unknown
};

template <>
struct TokenTable<ElementType> {
  static constexpr std::string_view noun = "element type";
  static constexpr std::array<std::pair<ElementType, std::string_view>, 27> rows{
      {{ElementType::fp64, "fp64"},
       {ElementType::fp32, "fp32"},
       {ElementType::fp16, "fp16"},
       {ElementType::bf16, "bf16"},
       {ElementType::fp8_e4m3fn, "fp8_e4m3fn"},
       {ElementType::fp8_e4m3fnuz, "fp8_e4m3fnuz"},
       {ElementType::fp8_e5m2, "fp8_e5m2"},
       {ElementType::fp8_e5m2fnuz, "fp8_e5m2fnuz"},
       {ElementType::fp8_e8m0, "fp8_e8m0"},
       {ElementType::fp4_e2m1, "fp4_e2m1"},
       {ElementType::int64, "int64"},
       {ElementType::int32, "int32"},
       {ElementType::int16, "int16"},
       {ElementType::int8, "int8"},
       {ElementType::int4, "int4"},
       {ElementType::int2, "int2"},
       {ElementType::uint64, "uint64"},
       {ElementType::uint32, "uint32"},
       {ElementType::uint16, "uint16"},
       {ElementType::uint8, "uint8"},
       {ElementType::uint4, "uint4"},
       {ElementType::uint2, "uint2"},
       {ElementType::boolean, "bool"},
       {ElementType::complex64, "complex64"},
       {ElementType::complex128, "complex128"},
       {ElementType::string, "string"},
       {ElementType::unknown, "unknown"}}};
};

// Bits of one element; 0 for strings and unknown types.
int bits(ElementType type);

// Bytes of a tensor; sub-byte types are packed and rounded up. Nothing if bits() is 0.
std::optional<double> storage_bytes(ElementType type, std::int64_t elements);

bool is_floating(ElementType type);  // complex included
bool is_integer(ElementType type);   // without bool

// Arithmetic dtype for such elements: int8 for uint8, int32 for int64 (no table of peaks has a
// wider integer), fp8 for fp4, the type of the parts for complex. Nothing for strings.
std::optional<DType> compute_dtype(ElementType type);

// Elements of tensors that are computed with in this type; TF32 is fp32 in memory.
ElementType storage_type(DType dtype);

}  // namespace ridgeline
