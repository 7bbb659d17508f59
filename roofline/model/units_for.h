// Which units of a machine run arithmetic of a data type, for predictions and ceilings alike:
// matrix units run products only, fp32 products may run as TF32, and a type without units is
// computed in the next wider one.
#pragma once

#include <optional>

#include "base/tokens.h"

namespace ridgeline {

// The next type that holds all values of `dtype`.
constexpr std::optional<DType> wider(DType dtype) {
  switch (dtype) {
    case DType::int4:
      return DType::int8;
    case DType::fp4:
      return DType::fp8;
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

// The arithmetic: a product or not, and whether the library may round the inputs of an fp32 product
// to TF32.
struct WantedArithmetic {
  DType dtype = DType::fp32;
  bool product = false;
  bool may_use_tf32 = true;
};

// Calls `takes(unit, dtype)` for the units that can run it, preferred ones first; it returns
// whether the machine has them. Wider types are tried only if it has none.
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
