// The arithmetic of the CUDA kernels on the host: start values stay in range, chains differ, and
// tensor core fragments match a plain matrix product.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "kernels/cuda/bodies.h"
#include "kernels/cuda/host_machine.h"
#include "kernels/cuda/reference.h"

namespace ridgeline::cuda {
namespace {

std::vector<const Kernel*> compute_kernels() {
  std::vector<const Kernel*> kernels;
  for (const Kernel& kernel : kernel_table())
    if (kernel.role == Role::compute) kernels.push_back(&kernel);
  return kernels;
}

std::uint64_t word_at(const Kernel& kernel, const std::vector<std::byte>& bytes, int index) {
  std::uint64_t word = 0;
  const auto size = std::size_t(kernel.register_bytes);
  std::memcpy(&word, bytes.data() + std::size_t(index) * size, size);
  return word;
}

// The numbers in a register of a chain.
std::vector<double> numbers(const Kernel& kernel, std::uint64_t word) {
  switch (kernel.accumulate) {
    case DType::fp64:
      return {std::bit_cast<double>(word)};
    case DType::fp32:
      return {double{std::bit_cast<float>(std::uint32_t(word))}};
    case DType::fp16:
      return {cpu::from_fp16(std::uint16_t(word)), cpu::from_fp16(std::uint16_t(word >> 16))};
    case DType::bf16:
      return {cpu::from_bf16(std::uint16_t(word)), cpu::from_bf16(std::uint16_t(word >> 16))};
    default:
      return {double(std::int32_t(word))};
  }
}

TEST(CudaArithmetic, ChainsOfAThreadStartDifferently) {
  for (const Kernel* kernel : compute_kernels()) {
    const auto bytes = start_registers(*kernel, 1, 7);
    for (int lane = 0; lane < warp; ++lane) {
      std::set<std::uint64_t> starts;
      for (int chain = 0; chain < kernel->chains; ++chain)
        starts.insert(
            word_at(*kernel, bytes,
                    (kernel->constants + chain * kernel->registers_per_chain) * warp + lane));
      EXPECT_EQ(int(starts.size()), kernel->chains) << kernel->name << " lane " << lane;
    }
  }
}

// Every trip changes the values, and they stay finite and far from overflow for any number of
// trips.
TEST(CudaArithmetic, ValuesChangeAndStayInRange) {
  for (const Kernel* kernel : compute_kernels()) {
    const auto start = start_registers(*kernel, 1, 3);
    auto bytes = start;
    const std::uint32_t trips = kernel->unit == Unit::matrix ? 2 : 100;
    for (std::uint32_t trip = 0; trip < trips; ++trip) {
      const auto before = bytes;
      run_reference(*kernel, 1, bytes);
      ASSERT_NE(before, bytes) << kernel->name << " trip " << trip;
    }
    const auto constants = std::size_t(kernel->constants * warp * kernel->register_bytes);
    EXPECT_TRUE(std::equal(start.begin(), start.begin() + std::ptrdiff_t(constants), bytes.begin()))
        << kernel->name;
    const double limit = kernel->unit == Unit::matrix ? 60000 : 2;
    if (is_integer(kernel->accumulate)) continue;
    for (int i = kernel->constants * warp; i < kernel->registers() * warp; ++i)
      for (const double value : numbers(*kernel, word_at(*kernel, bytes, i)))
        ASSERT_LT(std::fabs(value), limit) << kernel->name;
  }
}

TEST(CudaArithmetic, TripsAddUp) {
  for (const Kernel* kernel : compute_kernels()) {
    if (kernel->unit == Unit::matrix && kernel->name != "mma_bf16_4") continue;  // one for all
    auto once = start_registers(*kernel, 1, 5), twice = once;
    run_reference(*kernel, 2, once);
    run_reference(*kernel, 1, twice);
    run_reference(*kernel, 1, twice);
    EXPECT_EQ(once, twice) << kernel->name;
  }
}

TEST(CudaArithmetic, KnownSteps) {
  float x = 0.5f;
  const float c[1] = {-1.875f};
  HostCore<FmaFp32>::step(x, c);
  EXPECT_EQ(x, -1.625f);
  std::uint32_t integer = 3;
  const std::uint32_t factor[2] = {5, 7};
  HostCore<MadInt32>::step(integer, factor);
  EXPECT_EQ(integer, 22u);
  std::uint32_t bytes = 0xff020304;  // −1, 2, 3, 4
  const std::uint32_t ones[1] = {0x01010101};
  HostCore<Dp4aInt8>::step(bytes, ones);
  EXPECT_EQ(bytes, 0xff020304 + 8);
  std::uint32_t halves = 0x38003c00;            // 0.5 and 1
  const std::uint32_t minus[1] = {0xbf80bf80};  // −1.875
  HostCore<FmaFp16x2>::step(halves, minus);
  EXPECT_EQ(halves, 0xbe80bb00);  // −1.625 and −0.875
}

// The layouts of the PTX manual, taken once more from its tables ("Matrix Fragments for
// mma.m16n8k16", "… m16n8k8", "… m16n8k32", "… m8n8k4"), independent of the formula under test.
struct Place {
  int row, column;
};
Place a_16bit_k16(int lane, int i) {  // i of 8 elements
  const int row = lane >> 2;
  return {(i < 2 || (4 <= i && i < 6)) ? row : row + 8,
          (lane & 3) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place b_16bit_k16(int lane, int i) {  // i of 4 elements
  return {(lane & 3) * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
}
Place a_8bit_k32(int lane, int i) {  // i of 16 elements
  const bool upper = i < 4 || (8 <= i && i < 12);
  return {upper ? lane >> 2 : (lane >> 2) + 8, (lane & 3) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
Place b_8bit_k32(int lane, int i) {  // i of 8 elements
  return {(lane & 3) * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane >> 2};
}
Place a_tf32_k8(int lane, int i) {  // i of 4 elements
  return {(i == 0 || i == 2) ? lane >> 2 : (lane >> 2) + 8, (lane & 3) + (i >= 2 ? 4 : 0)};
}
Place b_tf32_k8(int lane, int i) { return {(lane & 3) + 4 * i, lane >> 2}; }
Place a_fp64_k4(int lane, int) { return {lane >> 2, lane % 4}; }
Place b_fp64_k4(int lane, int) { return {lane % 4, lane >> 2}; }
Place c_m16n8(int lane, int i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, (lane & 3) * 2 + (i & 1)};
}

template <class Arithmetic>
void expect_plain_product(Place (*a_place)(int, int), Place (*b_place)(int, int)) {
  using Machine = HostMma<Arithmetic>;
  typename Machine::Left a{};
  typename Machine::Right b{};
  typename Machine::Accumulator c{};
  const typename Machine::Metadata metadata{};
  // Registers whose elements are small integers: the kernel's start values.
  const std::string_view name = Arithmetic::dtype == DType::fp16   ? "mma_fp16_8"
                                : Arithmetic::dtype == DType::bf16 ? "mma_bf16_8"
                                : Arithmetic::dtype == DType::tf32 ? "mma_tf32_8"
                                : Arithmetic::dtype == DType::fp64 ? "mma_fp64_8"
                                                                   : "mma_int8_8";
  const auto registers = start_registers(*find_kernel(name), 1, 1);
  std::memcpy(&a, registers.data(), sizeof a);
  std::memcpy(&b, registers.data() + 2 * sizeof a, sizeof b);
  double left[16][64] = {}, right[64][8] = {};
  constexpr int per = Machine::per_register;
  for (int lane = 0; lane < warp; ++lane) {
    for (int i = 0; i < per * Arithmetic::a; ++i) {
      const Place at = a_place(lane, i);
      left[at.row][at.column] =
          element(Arithmetic::dtype, a[std::size_t(i / per)][std::size_t(lane)], i % per);
    }
    for (int i = 0; i < per * Arithmetic::b; ++i) {
      const Place at = b_place(lane, i);
      right[at.row][at.column] =
          element(Arithmetic::dtype, b[std::size_t(i / per)][std::size_t(lane)], i % per);
    }
  }
  Machine::step(c, a, b, metadata);
  for (int lane = 0; lane < warp; ++lane)
    for (int i = 0; i < Arithmetic::c; ++i) {
      const Place at = c_m16n8(lane, i);
      double sum = 0;
      for (int k = 0; k < Arithmetic::k; ++k) sum += left[at.row][k] * right[k][at.column];
      const auto word = c[std::size_t(i)][std::size_t(lane)];
      const double found = Arithmetic::accumulate == DType::fp64
                               ? std::bit_cast<double>(std::uint64_t(word))
                           : Arithmetic::accumulate == DType::fp32
                               ? double{std::bit_cast<float>(std::uint32_t(word))}
                               : double(std::int32_t(word));
      ASSERT_EQ(found, sum) << name << " lane " << lane << " register " << i;
    }
}

TEST(CudaArithmetic, FragmentsMakeThePlainProduct) {
  expect_plain_product<MmaFp16>(a_16bit_k16, b_16bit_k16);
  expect_plain_product<MmaBf16>(a_16bit_k16, b_16bit_k16);
  expect_plain_product<MmaInt8>(a_8bit_k32, b_8bit_k32);
  expect_plain_product<MmaTf32>(a_tf32_k8, b_tf32_k8);
  expect_plain_product<MmaFp64>(a_fp64_k4, b_fp64_k4);
}

// "Matrix Fragments for mma.m8n8k4 with .f16": four products of eight lanes each. Taken from the
// manual's pictures: which lane and register hold row r and column c of the sum.
TEST(CudaArithmetic, QuartersOfAWarpMakeFourPlainProducts) {
  using Machine = HostMma<MmaFp16K4>;
  Machine::Left a{};
  Machine::Right b{};
  Machine::Accumulator c{};
  const auto registers = start_registers(*find_kernel("mma_fp16_k4_4"), 1, 1);
  std::memcpy(&a, registers.data(), sizeof a);
  std::memcpy(&b, registers.data() + 2 * sizeof a, sizeof b);
  Machine::step(c, a, b, {});
  HostMma<MmaFp16Fp16K4>::Accumulator halves{};
  HostMma<MmaFp16Fp16K4>::step(halves, a, b, {});
  for (int product = 0; product < 4; ++product) {
    const auto lane_of = [&](int line) { return 4 * product + (line < 4 ? line : line + 12); };
    const auto operand = [&](const Machine::Left& side, int line, int k) {
      return element(DType::fp16, side[std::size_t(k / 2)][std::size_t(lane_of(line))], k % 2);
    };
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = 0;
        for (int k = 0; k < 4; ++k) sum += operand(a, row, k) * operand(b, column, k);
        const int lane = lane_of(row / 4 * 4 + row % 2 + (column / 2 % 2 == 0 ? 0 : 2));
        const int index = column % 2 + (row / 2 % 2 == 0 ? 0 : 2) + (column < 4 ? 0 : 4);
        const auto word = c[std::size_t(index)][std::size_t(lane)];
        EXPECT_EQ(double{std::bit_cast<float>(word)}, sum) << product << row << column;
        const auto half = halves[std::size_t(column / 2)][std::size_t(lane_of(row))];
        EXPECT_EQ(element(DType::fp16, half, column % 2), sum) << product << row << column;
      }
  }
}

// In any layout, all elements grow by k · a · b if operands are equal.
TEST(CudaArithmetic, EqualOperandsNeedNoLayout) {
  const Kernel& kernel = *find_kernel("wmma_int8_4");
  auto bytes = start_registers(kernel, 1, 1);
  const auto start = bytes;
  run_reference(kernel, 1, bytes);
  // Ten rounds alternate between two pairs of operands, 3 · 2 and −2 · 4, sixteen times each.
  const int grown = 5 * 16 * (3 * 2 - 2 * 4);
  for (int i = kernel.constants * warp; i < kernel.registers() * warp; ++i)
    ASSERT_EQ(std::int32_t(word_at(kernel, bytes, i)),
              std::int32_t(word_at(kernel, start, i)) + grown);
}

// However long a kernel runs, its sums stay numbers.
TEST(CudaArithmetic, EqualOperandsNeverOverflowFp16) {
  int checked = 0;
  for (const Kernel* kernel : compute_kernels()) {
    if (!kernel->opaque || kernel->accumulate != DType::fp16) continue;
    auto bytes = start_registers(*kernel, 1, 1);
    run_reference(*kernel, 300, bytes);  // 128 trips reach the end
    for (int i = kernel->constants * warp; i < kernel->registers() * warp; ++i)
      for (const double value : numbers(*kernel, word_at(*kernel, bytes, i)))
        ASSERT_LT(std::fabs(value), 40000) << kernel->name;
    ++checked;
  }
  EXPECT_EQ(checked, 4);  // FP16 and FP8, by wgmma and tcgen05
}

// E2M1: one sign, two exponent and one fraction bit (OCP Microscaling Formats, "FP4").
TEST(CudaArithmetic, FourBitsAreE2M1) {
  constexpr double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (std::uint64_t bits = 0; bits < 8; ++bits)
    for (int index = 0; index < 8; ++index) {
      EXPECT_EQ(element(DType::fp4, bits << 4 * index, index), values[bits]);
      EXPECT_EQ(element(DType::fp4, (bits | 8) << 4 * index, index), -values[bits]);
    }
}

// Operands of random FP4: K = 64 in the order of the PTX manual's figure of m16n8k64.
TEST(CudaArithmetic, AStepOfFp4IsAProductOf64Columns) {
  for (const char* name : {"mma_mxfp4_4", "mma_nvfp4_4"}) {
    const Kernel& kernel = *find_kernel(name);
    auto bytes = start_registers(kernel, 1, 3);
    const auto start = bytes;
    const auto word = [&](int index, int lane) {
      return word_at(kernel, start, index * warp + lane);
    };
    // Two pairs of operands take turns: ten steps of each chain and pair in forty rounds.
    static double left[2][16][64], right[2][64][8];
    for (int pair = 0; pair < 2; ++pair)
      for (int lane = 0; lane < warp; ++lane)
        for (int i = 0; i < 8; ++i) {
          const int row = lane / 4, column = 8 * (lane % 4) + i;
          for (int half = 0; half < 2; ++half)
            for (int below = 0; below < 2; ++below)
              left[pair][row + 8 * below][column + 32 * half] =
                  element(DType::fp4, word(4 * pair + 2 * half + below, lane), i);
          for (int half = 0; half < 2; ++half)
            right[pair][column + 32 * half][row] =
                element(DType::fp4, word(8 + 2 * pair + half, lane), i);
        }
    run_reference(kernel, 1, bytes);
    for (int lane = 0; lane < warp; ++lane)
      for (int r = 0; r < 4; ++r) {
        const int row = lane / 4 + 8 * (r / 2), column = 2 * (lane % 4) + r % 2;
        double sum = 0;
        for (int pair = 0; pair < 2; ++pair)
          for (int k = 0; k < 64; ++k) sum += left[pair][row][k] * right[pair][k][column];
        const int place = (kernel.constants + r) * warp + lane;
        const auto number = [&](const std::vector<std::byte>& of) {
          return numbers(kernel, word_at(kernel, of, place)).front();
        };
        ASSERT_EQ(number(bytes), number(start) + 20 * sum) << name << " lane " << lane;
      }
  }
}

// A tile of products in steps is one larger product: 64 × 64 over the four steps of a trip.
TEST(CudaArithmetic, AFedTileIsOneProduct) {
  const Kernel& kernel = *find_kernel("fed_fp16_32");
  auto bytes = start_registers(kernel, 1, 1);
  const auto start = bytes;
  run_reference(kernel, 1, bytes);
  constexpr int steps = 4, fragments_a = 4, fragments_b = 8, words_a = 4, words_b = 2;
  constexpr int step_words = fragments_a * words_a + fragments_b * words_b;
  static double left[64][64], right[64][64];  // k counts steps and their columns
  const auto word = [&](int index, int lane) {
    return word_at(kernel, start, index * warp + lane);
  };
  for (int step = 0; step < steps; ++step)
    for (int lane = 0; lane < warp; ++lane) {
      for (int f = 0; f < fragments_a; ++f)
        for (int i = 0; i < 2 * words_a; ++i) {
          const Place at = a_16bit_k16(lane, i);
          left[16 * f + at.row][16 * step + at.column] =
              element(DType::fp16, word(step * step_words + f * words_a + i / 2, lane), i % 2);
        }
      for (int f = 0; f < fragments_b; ++f)
        for (int i = 0; i < 2 * words_b; ++i) {
          const Place at = b_16bit_k16(lane, i);
          right[16 * step + at.row][8 * f + at.column] = element(
              DType::fp16,
              word(step * step_words + fragments_a * words_a + f * words_b + i / 2, lane), i % 2);
        }
    }
  for (int tile = 0; tile < fragments_a * fragments_b; ++tile)
    for (int lane = 0; lane < warp; ++lane)
      for (int i = 0; i < 4; ++i) {
        const Place at = c_m16n8(lane, i);
        const int row = 16 * (tile / fragments_b) + at.row;
        const int column = 8 * (tile % fragments_b) + at.column;
        double sum = 0;
        for (int k = 0; k < 64; ++k) sum += left[row][k] * right[k][column];
        const int place = (steps * step_words + 4 * tile + i) * warp + lane;
        const auto number = [&](const std::vector<std::byte>& of) {
          return numbers(kernel, word_at(kernel, of, place)).front();
        };
        ASSERT_EQ(number(bytes), number(start) + sum) << tile << " lane " << lane;
      }
}

TEST(CudaKernelTable, RowsAreConsistent) {
  std::set<std::string_view> names;
  for (const Kernel& kernel : kernel_table()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    if (kernel.role == Role::compute) {
      EXPECT_EQ(kernel.arithmetic % kernel.chains, 0) << kernel.name;
      EXPECT_GE(kernel.arithmetic, 32) << kernel.name;
    }
    if (kernel.role == Role::sweep) {
      EXPECT_EQ(kernel.flop_per_trip() / kernel.bytes_per_trip(), kernel.fma_per_element / 2.0)
          << kernel.name;
    }
  }
  EXPECT_EQ(find_kernel("mma_fp16_8")->flop_per_trip(), 160 * 4096.0);
  EXPECT_EQ(find_kernel("mma_fp16_k4_4")->flop_per_trip(), 4 * 10 * 4 * 512.0);
  EXPECT_EQ(find_kernel("wmma_int8_8")->flop_per_trip(), 8 * 6 * 8192.0);
  EXPECT_EQ(find_kernel("fma_fp32_8")->flop_per_trip(), 512 * 64.0);
  EXPECT_EQ(find_kernel("fed_fp16_32")->flop_per_trip(), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(find_kernel("fed_fp16_32")->loads, 4 * 8);
  EXPECT_EQ(find_kernel("tcgen05_fp16_1")->flop_per_trip(), 32 * 2.0 * 128 * 256 * 16 / 4);
  EXPECT_EQ(find_kernel("tcgen05_mxfp4_1")->flop_per_trip(), 32 * 2.0 * 128 * 256 * 64 / 4);
  EXPECT_EQ(find_kernel("mma_nvfp4_8")->flop_per_trip(), 160 * 2.0 * 16 * 8 * 64);
  for (const Kernel& kernel : kernel_table()) {
    EXPECT_EQ(kernel.tensor_columns > 0, kernel.ptx.starts_with("tcgen05")) << kernel.name;
    EXPECT_TRUE(kernel.tensor_columns == 0 || kernel.tensor_columns == 256 ||
                kernel.tensor_columns == 512)
        << kernel.name;
  }
  EXPECT_FALSE(is_tensor_allocation<16> || is_tensor_allocation<288> || is_tensor_allocation<1024>);
  EXPECT_EQ(find_kernel("triad_dram")->warp_bytes(), 12 * 512u);
  EXPECT_EQ(find_kernel("update_dram")->warp_bytes(), 16 * 512u);
  const Architectures fp8 = find_kernel("mma_fp8_8")->architectures;
  EXPECT_TRUE(fp8.include(89) && fp8.include(120));
  EXPECT_FALSE(fp8.include(87) || fp8.include(90) || fp8.include(110));
}

}  // namespace
}  // namespace ridgeline::cuda
