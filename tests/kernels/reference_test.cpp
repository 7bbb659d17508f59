// The references themselves, on cases small enough to check by hand: kernels of rare instruction
// sets (tiles, BF16) are verified by nothing else until they run on a CPU that has them.
#include "tests/kernels/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cpu/small_floats.h"

namespace ridgeline::cpu {
namespace {

// A kernel of one step per chain and trip.
Kernel one_step(Recurrence recurrence, DType dtype, int chains, int register_bytes) {
  Kernel kernel;
  kernel.recurrence = recurrence;
  kernel.dtype = dtype;
  kernel.chains = chains;
  kernel.arithmetic = chains * (recurrence == Recurrence::mul_add ? 2 : 1);
  kernel.access_bytes = register_bytes;
  return kernel;
}

template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

template <class T>
void set(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(&bytes[offset], &value, sizeof value);
}

TEST(Reference, FusedRoundsOnceAndSeparateTwice) {
  // (1 + 2⁻¹²)² = 1 + 2⁻¹¹ + 2⁻²⁴, whose last bit is lost if the product is rounded.
  const float x = 1 + 0x1p-12f, c = -1;
  std::vector<float> state = {c, x};
  run_reference(one_step(Recurrence::fma, DType::fp32, 1, 4), 1, state.data());
  EXPECT_EQ(state[1], 0x1p-11f + 0x1p-24f);
  state = {c, x};
  run_reference(one_step(Recurrence::mul_add, DType::fp32, 1, 4), 1, state.data());
  EXPECT_EQ(state[1], 0x1p-11f);
}

TEST(Reference, HalfPrecisionRoundsOnce) {
  std::vector<std::uint16_t> state = {to_fp16(-1), to_fp16(1 + 0x1p-6)};
  run_reference(one_step(Recurrence::fma, DType::fp16, 1, 2), 1, state.data());
  EXPECT_EQ(state[1], to_fp16(0x1p-5 + 0x1p-12));
}

TEST(Reference, AccumulatingTakesTwoStepsInTurn) {
  Kernel kernel = one_step(Recurrence::fma_accumulate, DType::fp64, 1, 8);
  std::vector<double> state = {3, -0.5, 2};
  run_reference(kernel, 1, state.data());
  EXPECT_EQ(state[2], 6);  // x + x²
  kernel.arithmetic = 2;
  state = {3, -0.5, 2};
  run_reference(kernel, 1, state.data());
  EXPECT_EQ(state[2], 4.5);  // … + a·b
}

TEST(Reference, ScalarStepsLeaveTheOtherLanesAlone) {
  Kernel kernel = one_step(Recurrence::fma, DType::fp64, 1, 16);
  kernel.unit = Unit::scalar;
  std::vector<double> state = {1, 1, 3, 5};
  run_reference(kernel, 1, state.data());
  EXPECT_EQ(state, (std::vector<double>{1, 1, 10, 5}));
}

TEST(Reference, DotProductsKnowSignsAndWrapAround) {
  std::vector<std::byte> state(16);  // A, B₀, B₁ and one chain of one 32-bit lane
  for (std::size_t i = 0; i < 4; ++i) {
    set(state, i, std::uint8_t{255});
    set(state, 4 + i, std::int8_t{-2});
  }
  auto dot = state;
  run_reference(one_step(Recurrence::dot_u8s8, DType::int8, 1, 4), 1, dot.data());
  EXPECT_EQ(at<std::int32_t>(dot, 12), 4 * 255 * -2);
  dot = state;
  run_reference(one_step(Recurrence::dot_s8s8, DType::int8, 1, 4), 1, dot.data());
  EXPECT_EQ(at<std::int32_t>(dot, 12), 4 * -1 * -2);
  set(dot, 12, std::int32_t{0x7fffffff});
  run_reference(one_step(Recurrence::dot_s8s8, DType::int8, 1, 4), 1, dot.data());
  EXPECT_EQ(at<std::int32_t>(dot, 12), std::int32_t(0x80000007u));
}

// A single product: element (m, k) of A times (k, n) of B ends at (m, n) of C. B holds `group`
// consecutive k side by side.
TEST(Reference, TilesMultiplyMatrices) {
  constexpr std::size_t m = 2, k = 5, n = 7, a = 64, b = a + 1024, c = b + 1024;
  const auto index_b = [](std::size_t group, std::size_t bytes) {
    return b + 64 * (k / group) + 4 * n + bytes * (k % group);
  };
  std::vector<std::byte> state(c + 1024);
  set(state, a + 64 * m + k, std::int8_t{-3});
  set(state, index_b(4, 1), std::int8_t{-50});
  run_reference(one_step(Recurrence::tile_int8, DType::int8, 1, 1024), 2, state.data());
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(at<std::int32_t>(state, c + 4 * i), i == 16 * m + n ? 300 : 0) << i;

  state.assign(state.size(), std::byte{0});
  set(state, a + 64 * m + 2 * k, exact_bf16(-3));
  set(state, index_b(2, 2), exact_bf16(2.5));
  run_reference(one_step(Recurrence::tile_bf16, DType::bf16, 1, 1024), 2, state.data());
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(at<float>(state, c + 4 * i), i == 16 * m + n ? -15 : 0) << i;
}

}  // namespace
}  // namespace ridgeline::cpu
