// FP16 and BF16 conversions, which the references of the narrow kernels rely on.
// Tests all 65536 halves and the midpoints between neighbours.
#include "kernels/cpu/small_floats.h"

#include <gtest/gtest.h>

namespace ridgeline::cpu {
namespace {

constexpr std::uint16_t sign = 0x8000, infinity = 0x7c00;

TEST(SmallFloats, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = std::uint16_t(bits);
    if ((half & ~sign) > infinity)
      EXPECT_TRUE(std::isnan(from_fp16(half))) << bits;
    else
      EXPECT_EQ(to_fp16(from_fp16(half)), half) << bits;
  }
}

TEST(SmallFloats, BetweenTwoHalvesTheNearerAndThenTheEvenOneWins) {
  for (std::uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    const auto low = std::uint16_t(bits), high = std::uint16_t(bits + 1);
    const double middle = (from_fp16(low) + from_fp16(high)) / 2;
    EXPECT_EQ(to_fp16(middle), low % 2 == 0 ? low : high) << bits;
    EXPECT_EQ(to_fp16(std::nextafter(middle, 0.0)), low) << bits;
    EXPECT_EQ(to_fp16(-std::nextafter(middle, 1e9)), high | sign) << bits;
  }
}

TEST(SmallFloats, KnownValues) {
  EXPECT_EQ(to_fp16(0.0), 0);
  EXPECT_EQ(to_fp16(-0.0), sign);
  EXPECT_EQ(to_fp16(1.0), 0x3c00);
  EXPECT_EQ(to_fp16(-1.875), 0xbf80);
  EXPECT_EQ(to_fp16(0x1p-24), 1);
  EXPECT_EQ(to_fp16(0x1p-26), 0);
  EXPECT_EQ(to_fp16(65519.9), 0x7bff);
  EXPECT_EQ(to_fp16(65520), infinity);
  EXPECT_EQ(to_fp16(INFINITY), infinity);
  EXPECT_EQ(exact_bf16(-3), 0xc040);
  EXPECT_EQ(from_bf16(0xc040), -3);
}

}  // namespace
}  // namespace ridgeline::cpu
