// Rates per multiprocessor and clock against numbers that were written down apart from the catalog,
// and what must have no theory.
#include <gtest/gtest.h>

#include "kernels/cuda/plan.h"
#include "kernels/cuda/theory.h"

namespace ridgeline::testing {
namespace {

using cuda::find_kernel;
using cuda::theory_per_cycle;

struct Stated {
  int architecture;
  const char* kernel;
  double per_cycle;
};

// NVIDIA's whitepapers of GA100, GA102, AD102, GH100; Jetson AGX Orin and Xavier technical briefs;
// the last two groups as said there.
constexpr Stated stated[] = {
    {72, "fma_fp32_8", 128},
    {72, "fma_fp16_8", 256},
    {72, "mma_fp16_k4_8", 1024},
    {72, "wmma_int8_8", 2048},
    {75, "fma_fp32_8", 128},
    {75, "fma_fp16_8", 256},
    {75, "mma_int8_k16_8", 2048},
    {75, "fma_fp64_8", 4},
    {80, "fma_fp64_8", 64},
    {80, "fma_fp32_8", 128},
    {80, "fma_fp16_8", 512},
    {80, "mma_fp64_8", 128},
    {80, "mma_tf32_8", 1024},
    {80, "mma_fp16_8", 2048},
    {80, "mma_bf16_8", 2048},
    {80, "mma_int8_8", 4096},
    {80, "sparse_int8_8", 8192},
    {86, "fma_fp32_8", 256},
    {86, "mma_int8_8", 2048},
    {87, "fma_fp64_8", 4},
    {87, "fma_fp32_8", 256},
    {87, "fma_fp16_8", 512},
    {87, "fma_bf16_8", 256},
    {87, "mad_int32_8", 128},
    {87, "mma_tf32_8", 1024},
    {87, "mma_fp16_8", 2048},
    {87, "mma_fp16_fp16_8", 2048},
    {87, "mma_bf16_8", 2048},
    {87, "mma_int8_8", 4096},
    {87, "sparse_fp16_8", 4096},
    {89, "fma_fp32_8", 256},
    {89, "mma_fp16_fp16_8", 1024},
    {89, "mma_int8_8", 2048},
    {90, "fma_fp64_8", 128},
    {90, "fma_fp32_8", 256},
    {90, "fma_fp16_8", 512},
    {90, "mma_fp64_k16_4", 256},
    {100, "fma_fp32_8", 256},
    {103, "fma_fp32_8", 256},
    {110, "fma_fp32_8", 256},
    {120, "fma_fp32_8", 256},
    {120, "mma_fp16_fp16_8", 1024},
    {121, "fma_fp32_8", 256},
    {75, "read_shared", 64},
    {75, "read_l1", 64},
    {87, "read_shared", 128},
    {90, "read_l1", 128},
    {90, "fma_bf16_8", 512},
    {120, "fma_bf16_8", 256},
    {90, "wgmma_fp16_1", 4096},
    {90, "wgmma_fp16_fp16_1", 4096},
    {90, "wgmma_bf16_1", 4096},
    {90, "wgmma_tf32_1", 2048},
    {90, "wgmma_fp8_1", 8192},
    {90, "wgmma_fp8_fp16_1", 8192},
    {90, "wgmma_int8_1", 8192},
    {100, "tcgen05_fp16_1", 8192},
    {100, "tcgen05_tf32_1", 4096},
    {100, "tcgen05_fp8_1", 16384},
    {100, "tcgen05_int8_1", 16384},
    {110, "tcgen05_bf16_1", 8192},
    {110, "tcgen05_fp8_1", 16384},
    // Measured by others: flashinfer issue 3628 (RTX 5060 Ti); ninfer pull request 160 (RTX 5090,
    // 4095 per clock).
    {120, "mma_mxfp8_8", 2048},
    {120, "mma_nvfp4_8", 4096},
    // Inferred, no measurement is known: scales cost nothing, MXFP4 is as fast as NVFP4, and FP4 is
    // twice FP8 or what NVIDIA's sparse totals leave per multiprocessor and clock.
    {120, "mma_mxfp4_8", 4096},
    {121, "mma_nvfp4_8", 4096},
    {100, "tcgen05_nvfp4_1", 32768},
    {110, "tcgen05_mxfp4_1", 32768},
    {110, "tcgen05_mxfp8_1", 16384},
};

TEST(CudaTheory, IsWhatTheMakerStates) {
  for (const Stated& row : stated) {
    const cuda::Kernel* const kernel = find_kernel(row.kernel);
    ASSERT_NE(kernel, nullptr) << row.kernel;
    const auto found = theory_per_cycle(*kernel, row.architecture);
    ASSERT_TRUE(found) << row.kernel << " on sm_" << row.architecture;
    EXPECT_EQ(*found, row.per_cycle) << row.kernel << " on sm_" << row.architecture;
  }
}

// GeForce halves sums in FP32, and mma.sync is not the fastest instruction of Hopper and Thor.
TEST(CudaTheory, IsAbsentWhereOneNumberWouldBeWrong) {
  constexpr std::pair<int, const char*> absent[] = {
      {75, "mma_fp16_k8_8"}, {86, "mma_fp16_8"},  {89, "mma_fp16_8"},  {89, "mma_fp8_8"},
      {90, "mma_fp16_8"},    {90, "mma_tf32_8"},  {90, "mma_int8_8"},  {90, "sparse_fp16_8"},
      {100, "mma_bf16_8"},   {110, "mma_fp16_8"}, {110, "mma_int8_8"}, {88, "fma_fp32_8"},
      {87, "chase"},         {87, "read_l2"},     {87, "sweep_16"},    {87, "fed_fp16_32"}};
  for (const auto& [architecture, kernel] : absent)
    EXPECT_FALSE(theory_per_cycle(*find_kernel(kernel), architecture))
        << kernel << " on sm_" << architecture;
}

TEST(CudaTheory, RowsOfASlowerInstructionAreNoRoofs) {
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_fp16_8"), 90), "wgmma");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_int8_8"), 110), "tcgen05");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_int8_8"), 103), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_fp64_8"), 90), "mma_k16");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_fp64_k16_4"), 90), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("wgmma_fp16_1"), 90), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_fp16_8"), 87), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("mma_fp16_8"), 120), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("fma_fp16_8"), 90), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("tcgen05_mxfp4_1"), 103), "tcgen05_k96");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("tcgen05_mxfp4_1"), 100), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("tcgen05_mxfp8_1"), 103), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("tcgen05_fp16_1"), 110), "");
  EXPECT_EQ(cuda::faster_instruction(*find_kernel("sparse_fp16_8"), 110), "tcgen05");
}

// Of a whole GPU: its multiprocessors times the rate of one, per clock; of DRAM the bus, but for
// sectors at random places; nothing where no source states a rate.
TEST(CudaTheory, OfAWholeGpu) {
  cuda::DeviceFacts facts;
  facts.architecture = 87;
  facts.multiprocessors = 16;
  facts.memory_bytes_per_s = 204.8e9;
  const auto fma = cuda::theory_of(*find_kernel("fma_fp32_8"), facts);
  EXPECT_EQ(fma.per_hz, 16 * 256);
  EXPECT_FALSE(fma.rate);
  facts.architecture = 88;
  const auto unknown = cuda::theory_of(*find_kernel("fma_fp32_8"), facts);
  EXPECT_FALSE(unknown.per_hz || unknown.rate);
  int dram = 0;
  for (const cuda::Kernel& kernel : cuda::kernel_table()) {
    if (kernel.role != cuda::Role::memory || kernel.level != Level::dram) continue;
    ++dram;
    const auto theory = cuda::theory_of(kernel, facts);
    EXPECT_FALSE(theory.per_hz) << kernel.name;
    EXPECT_EQ(theory.rate.has_value(), kernel.direction != Direction::random) << kernel.name;
    EXPECT_EQ(theory.rate.value_or(204.8e9), 204.8e9) << kernel.name;
  }
  EXPECT_GT(dram, 3);
}

}  // namespace
}  // namespace ridgeline::testing
