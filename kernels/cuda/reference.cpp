// Start values that keep arithmetic honest, and the loop bodies run by the host.
// Operands of tensor cores are small whole numbers: every order of summation gives the same bits.
#include "kernels/cuda/reference.h"

#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/random.h"
#include "kernels/cuda/bodies.h"
#include "kernels/cuda/host_machine.h"

namespace ridgeline::cuda {
namespace {

// Steps.

template <class Arithmetic, int chains, int rounds>
void run_chains(std::uint32_t trips, std::byte* registers) {
  using Machine = HostCore<Arithmetic>;
  using Register = typename Machine::Register;
  const auto at = [&](int index, int lane) {
    return registers + (std::size_t(index) * warp + std::size_t(lane)) * sizeof(Register);
  };
  for (int lane = 0; lane < warp; ++lane) {
    Register constants[Machine::constants], x[chains];
    for (int i = 0; i < Machine::constants; ++i)
      std::memcpy(&constants[i], at(i, lane), sizeof x[0]);
    for (int i = 0; i < chains; ++i)
      std::memcpy(&x[i], at(Machine::constants + i, lane), sizeof x[0]);
    for (std::uint32_t trip = 0; trip < trips; ++trip)
      chain_trip<Machine, chains, rounds>(x, constants);
    for (int i = 0; i < chains; ++i)
      std::memcpy(at(Machine::constants + i, lane), &x[i], sizeof x[0]);
  }
}

template <class Arithmetic, int chains, int rounds>
void run_mma(std::uint32_t trips, std::byte* registers) {
  using Machine = HostMma<Arithmetic>;
  typename Machine::Metadata metadata{};
  typename Machine::Left a[2];
  typename Machine::Right b[2];
  typename Machine::Accumulator c[chains];
  const auto load = [&](auto& part) {
    std::memcpy(&part, registers, sizeof part);
    registers += sizeof part;
  };
  if (Arithmetic::sparse) load(metadata);
  load(a);
  load(b);
  std::memcpy(&c, registers, sizeof c);
  for (std::uint32_t trip = 0; trip < trips; ++trip)
    mma_trip<Machine, chains, rounds>(c, a, b, metadata);
  std::memcpy(registers, &c, sizeof c);
}

// The operands of all steps of a trip, then the sums of a tile.
template <class Arithmetic, int rows, int columns, int rounds>
void run_fed(std::uint32_t trips, std::byte* registers) {
  using Machine = HostMma<Arithmetic>;
  typename Machine::Accumulator c[rows * columns];
  struct Step {
    typename Machine::Left a[rows];
    typename Machine::Right b[columns];
  };
  const auto steps = std::make_unique<Step[]>(rounds);
  std::memcpy(steps.get(), registers, rounds * sizeof(Step));
  registers += rounds * sizeof(Step);
  std::memcpy(&c, registers, sizeof c);
  for (std::uint32_t trip = 0; trip < trips; ++trip)
    for (int round = 0; round < rounds; ++round)
      for (int i = 0; i < rows * columns; ++i)
        Machine::step(c[i], steps[round].a[i / columns], steps[round].b[i % columns], {});
  std::memcpy(registers, &c, sizeof c);
}

struct Reference {
  std::string_view name;
  void (*run)(std::uint32_t trips, std::byte* registers);
};

#define RIDGELINE_CHAINS(name, Arithmetic, chains, rounds) \
  {#name, run_chains<Arithmetic, chains, rounds>},
#define RIDGELINE_TENSOR(name, Arithmetic, chains, rounds, first, last) \
  {#name, run_mma<Arithmetic, chains, rounds>},
#define RIDGELINE_WGMMA RIDGELINE_TENSOR
#define RIDGELINE_TCGEN05 RIDGELINE_TENSOR
#define RIDGELINE_FED(name, Arithmetic, rows, columns, rounds, first, last) \
  {#name, run_fed<Arithmetic, rows, columns, rounds>},
#define RIDGELINE_STREAM(...)
#define RIDGELINE_SWEEP(...)
#define RIDGELINE_CHASE(...)
constexpr Reference references[] = {
#include "kernels/cuda/core.inc"
#include "kernels/cuda/tensor_fp8.inc"
#include "kernels/cuda/tensor_int4.inc"
#include "kernels/cuda/tensor_sm100.inc"
#include "kernels/cuda/tensor_sm100_int8.inc"
#include "kernels/cuda/tensor_sm120.inc"
#include "kernels/cuda/tensor_sm72.inc"
#include "kernels/cuda/tensor_sm75.inc"
#include "kernels/cuda/tensor_sm80.inc"
#include "kernels/cuda/tensor_sm90.inc"
};
#undef RIDGELINE_STREAM
#undef RIDGELINE_SWEEP
#undef RIDGELINE_CHASE
#undef RIDGELINE_CHAINS
#undef RIDGELINE_TENSOR
#undef RIDGELINE_WGMMA
#undef RIDGELINE_TCGEN05
#undef RIDGELINE_FED

// Start values.

std::uint32_t both_halves(std::uint32_t half) { return half | half << 16; }

// One value of a floating-point format in all of a register.
std::uint64_t filled(DType dtype, double value) {
  switch (dtype) {
    case DType::fp64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::fp16:
      return both_halves(cpu::to_fp16(value));
    case DType::bf16:
      return both_halves(to_bf16(value));
    default:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
}

std::uint64_t chain_constant(const Kernel& kernel, int index, Random& random) {
  if (kernel.dtype == DType::int8) return std::uint32_t(random.next());
  // a ≡ 5 (mod 8) and an odd c: all 2³² values follow one another.
  if (kernel.dtype == DType::int32)
    return (std::uint32_t(random.next()) & ~7u) | (index == 0 ? 5u : 1u);
  // Chaotic in every format: of the short ones, those whose shortest cycle is the longest.
  if (kernel.dtype == DType::fp16) return filled(DType::fp16, -1.6142578125);  // 174 values
  if (kernel.dtype == DType::bf16) return filled(DType::bf16, -1.921875);      // 34 values
  return filled(kernel.dtype, -1.875);
}

// One value from each of as many equal parts of [0.1, 1.15] as there are chains.
std::uint64_t chain_start(const Kernel& kernel, int chain, Random& random) {
  if (is_integer(kernel.dtype)) return std::uint32_t(random.next());
  const auto value = [&] {
    return 0.1 + 1.05 * (chain + 0.3 + 0.4 * random.unit()) / kernel.chains;
  };
  if (kernel.register_bytes == 8 || kernel.dtype == DType::fp32)
    return filled(kernel.dtype, value());
  return (filled(kernel.dtype, value()) & 0xffff) | (filled(kernel.dtype, value()) & 0xffff0000);
}

// A non-zero whole number that the format holds. Sums of FP16 accumulators stop growing at 2¹¹
// times the largest step, which is below overflow with ones.
std::uint64_t operand_element(const Kernel& kernel, int value) {
  switch (kernel.dtype) {
    case DType::fp64:
      return std::bit_cast<std::uint64_t>(double(value));
    case DType::fp16:
      return cpu::to_fp16(value);
    case DType::bf16:
      return to_bf16(value);
    case DType::fp8: {
      constexpr std::uint8_t e4m3[] = {0, 0x38, 0x40, 0x44, 0x48};  // 0 … 4
      return std::uint64_t(e4m3[value < 0 ? -value : value] | (value < 0 ? 0x80 : 0));
    }
    case DType::fp4: {
      constexpr std::uint8_t e2m1[] = {0, 2, 4, 5, 6};  // 0 … 4
      return std::uint64_t(e2m1[value < 0 ? -value : value] | (value < 0 ? 8 : 0));
    }
    case DType::int8:
      return std::uint8_t(value);
    case DType::int4:
      return std::uint8_t(value) & 15u;
    default:
      return std::bit_cast<std::uint32_t>(float(value));
  }
}

// A register of operands of tensor cores.
std::uint64_t operands(const Kernel& kernel, Random& random) {
  const int bits = bits_of(kernel.dtype);
  const std::size_t largest = kernel.accumulate == DType::fp16 ? 1 : 4;
  std::uint64_t word = 0;
  for (int i = 0; i < kernel.register_bytes * 8; i += bits) {
    const int size = 1 + int(random.below(largest));
    word |= operand_element(kernel, (random.next() & 1) != 0 ? size : -size) << i;
  }
  return word;
}

// The same number in all lanes and registers of an operand, of which there are two on each side.
// Sums in FP16 grow by 32 and shrink by 16 in turn, and stop growing where 16 is half of their last
// digit, at 32768; FP8 has twice the columns and takes half of each left operand.
std::uint64_t equal_operands(const Kernel& kernel, int index) {
  constexpr int whole[] = {3, -2, 2, 4}, small[] = {1, -1, 2, 1};
  const auto& values = kernel.accumulate == DType::fp16 ? small : whole;
  const int place = 4 * index / kernel.constants;
  const bool halved = kernel.dtype == DType::fp8 && kernel.accumulate == DType::fp16 && place < 2;
  constexpr std::uint64_t e4m3_factor_of_two = 8;
  const std::uint64_t one =
      operand_element(kernel, values[place]) - (halved ? e4m3_factor_of_two : 0);
  std::uint64_t word = 0;
  for (int i = 0; i < 32; i += bits_of(kernel.dtype)) word |= one << i;
  return word;
}

std::uint64_t accumulator_start(const Kernel& kernel, int number) {
  switch (kernel.accumulate) {
    case DType::fp64:
      return std::bit_cast<std::uint64_t>(double(number));
    case DType::fp16:
      return both_halves(cpu::to_fp16(number));
    case DType::fp32:
      return std::bit_cast<std::uint32_t>(float(number));
    default:
      return std::uint32_t(number);
  }
}

constexpr std::uint32_t first_two_of_four = 0x44444444;  // metadata of 2:4 sparsity

class Writer {
 public:
  Writer(std::vector<std::byte>& bytes, int word_bytes)
      : at_(bytes.data()), word_bytes_(std::size_t(word_bytes)) {}
  void put(std::uint64_t word) {
    std::memcpy(at_, &word, word_bytes_);  // little-endian, as every host of an NVIDIA GPU is
    at_ += word_bytes_;
  }

 private:
  std::byte* at_;
  std::size_t word_bytes_;
};

}  // namespace

std::vector<std::byte> start_registers(const Kernel& kernel, std::size_t warps,
                                       std::uint64_t seed) {
  std::vector<std::byte> bytes(warps * warp * std::size_t(kernel.registers()) *
                               std::size_t(kernel.register_bytes));
  Writer out(bytes, kernel.register_bytes);
  Random random{seed};
  const bool tensor = kernel.unit == Unit::matrix;
  for (std::size_t w = 0; w < warps; ++w)
    for (int i = 0; i < kernel.registers(); ++i)
      for (int lane = 0; lane < warp; ++lane) {
        const int chain_word = i - kernel.constants;
        if (!tensor)
          out.put(chain_word < 0 ? chain_constant(kernel, i, random)
                                 : chain_start(kernel, chain_word, random));
        else if (kernel.sparse && i == 0)
          out.put(first_two_of_four);
        else if (kernel.opaque && chain_word < 0)
          out.put(equal_operands(kernel, i));
        else
          out.put(chain_word < 0 ? operands(kernel, random)
                                 : accumulator_start(kernel, chain_word * warp + lane - 500));
      }
  return bytes;
}

void run_reference(const Kernel& kernel, std::uint32_t trips, std::span<std::byte> warp_registers) {
  for (const Reference& reference : references)
    if (reference.name == kernel.name) return reference.run(trips, warp_registers.data());
  throw Error(std::string(kernel.name), "has no arithmetic to check");
}

}  // namespace ridgeline::cuda
