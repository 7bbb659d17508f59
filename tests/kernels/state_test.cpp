// Start values: distinct in every chain and lane, reproducible from the seed, within their bytes.
// That they stay bounded for any number of trips is checked by running (arithmetic_test.cpp).
#include "kernels/cpu/state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace ridgeline::cpu {
namespace {

constexpr std::byte untouched{0xa5};

std::vector<std::byte> prepared(const Kernel& kernel, std::uint64_t seed) {
  std::vector<std::byte> state(state_bytes(kernel) + 64, untouched);
  prepare_state(kernel, state.data(), seed);
  return state;
}

TEST(State, StaysInItsBytesAndDependsOnTheSeedAlone) {
  for (const Kernel& kernel : kernel_table()) {
    if (kernel.role != Role::compute && kernel.role != Role::clock) continue;
    const auto state = prepared(kernel, 1);
    for (std::size_t i = state_bytes(kernel); i < state.size(); ++i)
      ASSERT_EQ(state[i], untouched) << kernel.name;
    EXPECT_TRUE(state == prepared(kernel, 1)) << kernel.name;
    EXPECT_TRUE(state != prepared(kernel, 2)) << kernel.name;
  }
}

TEST(State, FloatingPointChainsStartDistinct) {
  for (const Kernel& kernel : kernel_table()) {
    const bool floating = kernel.recurrence == Recurrence::fma ||
                          kernel.recurrence == Recurrence::mul_add ||
                          kernel.recurrence == Recurrence::fma_accumulate;
    if (kernel.role != Role::compute || !floating) continue;
    const std::size_t width = kernel.dtype == DType::fp64 ? 8 : kernel.dtype == DType::fp16 ? 2 : 4;
    const auto chain_bytes = std::size_t(kernel.chains * kernel.access_bytes);
    const auto state = prepared(kernel, 7);
    std::set<std::string> values;
    for (std::size_t at = state_bytes(kernel) - chain_bytes; at < state_bytes(kernel); at += width)
      values.emplace(reinterpret_cast<const char*>(&state[at]), width);
    EXPECT_EQ(values.size(), chain_bytes / width) << kernel.name;
  }
}

TEST(State, TilesAreConfiguredInFull) {
  const Kernel* kernel = find_kernel("tile_amx_int8");
  if (kernel == nullptr) GTEST_SKIP() << "no tile kernels on this architecture";
  const auto state = prepared(*kernel, 1);
  EXPECT_EQ(state_bytes(*kernel), 64u + 8 * 1024);
  EXPECT_EQ(state[0], std::byte{1});  // palette
  for (std::size_t tile = 0; tile < 16; ++tile) {
    std::uint16_t row_bytes = 0;
    std::memcpy(&row_bytes, &state[16 + 2 * tile], sizeof row_bytes);
    EXPECT_EQ(row_bytes, tile < 8 ? 64 : 0);
    EXPECT_EQ(state[48 + tile], std::byte(tile < 8 ? 16 : 0));
  }
}

}  // namespace
}  // namespace ridgeline::cpu
