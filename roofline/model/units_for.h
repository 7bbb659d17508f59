// Which units of a machine run arithmetic of a data type. The one rule behind predictions and
// ceilings: a matrix unit runs products only, fp32 products may run as TF32, and a type that the
// machine has no units for is computed in the next wider one.
#pragma once

#include <optional>

#include "base/tokens.h"

namespace ridgeline {

// The next type that holds all values of `dtype`.
constexpr std::optional<DType> wider(DType dtype) {
  switch (dtype) {
    case DType::int4:
      return DType::int8;
    case DType::int8:
    case DType::fp8:
      return DType::fp16;
    case DType::fp16:
    case DType::bf16:
    case DType::tf32:
    case DType::int16:
    case DType::int32:
      return DType::fp32;
    case DType::fp32:
    case DType::fp64:
      return std::nullopt;
  }
  return std::nullopt;
}

// What is to be computed: a product (or other arithmetic), and whether the library may round the
// inputs of an fp32 product to TF32.
struct WantedArithmetic {
  DType dtype = DType::fp32;
  bool product = false;
  bool may_use_tf32 = true;
};

// Calls `takes(unit, dtype)` for the units that can run it, the preferred one first; it returns
// whether the machine has them. Wider types are tried only where it has none.
template <class Takes>
void each_unit_for(const WantedArithmetic& wanted, Takes&& takes) {
  for (std::optional<DType> dtype = wanted.dtype; dtype; dtype = wider(*dtype)) {
    bool any = false;
    if (wanted.product && wanted.may_use_tf32 && *dtype == DType::fp32)
      any |= takes(Unit::matrix, DType::tf32);
    if (wanted.product) any |= takes(Unit::matrix, *dtype);
    any |= takes(Unit::vector, *dtype);
    any |= takes(Unit::scalar, *dtype);
    if (any) return;
  }
}

}  // namespace ridgeline
