// Conversions between double and the 16-bit formats FP16 and BF16, rounding to nearest even.
// For start values and references: exact rather than fast, and independent of the compiler's types.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ridgeline::cpu {

inline double from_fp16(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

inline std::uint16_t to_fp16(double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude == 0) return std::uint16_t(sign);               // has no exponent
  if (magnitude >= 65520) return std::uint16_t(sign | 0x7c00);  // rounds beyond the largest finite
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = exponent - 1 < -14 ? -14 : exponent - 1;  // below 2⁻¹⁴ the spacing stays 2⁻²⁴
  const int units = int(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // The hidden bit of `units` adds one to the exponent field, as does a carry out of rounding.
  return std::uint16_t(sign | ((exponent + 14) * 1024 + units));
}

inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// For values that BF16 holds exactly, such as small integers.
inline std::uint16_t exact_bf16(float value) {
  return std::uint16_t(std::bit_cast<std::uint32_t>(value) >> 16);
}

}  // namespace ridgeline::cpu
