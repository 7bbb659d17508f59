// How a host takes one step of each arithmetic, rounded exactly as a GPU rounds it.
// A step on tensor cores is one of a whole warp: fragments are read by the layout of the PTX
// manual.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/cpu/small_floats.h"
#include "kernels/cuda/arithmetic.h"

namespace ridgeline::cuda {

inline std::uint16_t to_bf16(double value) {
  // A float holds every result exactly: sums of products of 8-bit significands, below 4.
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Both halves of a register.
template <class Step>
std::uint32_t by_halves(std::uint32_t x, std::uint32_t c, Step step) {
  const auto low = step(std::uint16_t(x), std::uint16_t(c));
  const auto high = step(std::uint16_t(x >> 16), std::uint16_t(c >> 16));
  return std::uint32_t{low} | std::uint32_t{high} << 16;
}

template <class Arithmetic>
struct HostCore;

template <class Type, int count>
struct HostTypes {
  using Register = Type;
  static constexpr int constants = count;
  using Constants = Type[count];
};

template <>
struct HostCore<FmaFp64> : HostTypes<double, 1> {
  static void step(double& x, const Constants& c) { x = std::fma(x, x, c[0]); }
};
template <>
struct HostCore<FmaFp32> : HostTypes<float, 1> {
  static void step(float& x, const Constants& c) { x = std::fma(x, x, c[0]); }
};
template <>
struct HostCore<FmaFp16x2> : HostTypes<std::uint32_t, 1> {
  static void step(std::uint32_t& x, const Constants& c) {
    x = by_halves(x, c[0], [](std::uint16_t a, std::uint16_t b) {
      return cpu::to_fp16(cpu::from_fp16(a) * cpu::from_fp16(a) + cpu::from_fp16(b));
    });
  }
};
template <>
struct HostCore<FmaBf16x2> : HostTypes<std::uint32_t, 1> {
  static void step(std::uint32_t& x, const Constants& c) {
    x = by_halves(x, c[0], [](std::uint16_t a, std::uint16_t b) {
      const double value = cpu::from_bf16(a);
      return to_bf16(value * value + double{cpu::from_bf16(b)});
    });
  }
};
template <>
struct HostCore<MadInt32> : HostTypes<std::uint32_t, 2> {
  static void step(std::uint32_t& x, const Constants& c) { x = x * c[0] + c[1]; }
};
template <>
struct HostCore<Dp4aInt8> : HostTypes<std::uint32_t, 1> {
  static void step(std::uint32_t& x, const Constants& c) {
    std::uint32_t sum = x;
    for (int i = 0; i < 32; i += 8)
      sum += std::uint32_t(int{std::int8_t(x >> i)} * int{std::int8_t(c[0] >> i)});
    x = sum;
  }
};

// --- Tensor cores
// ---------------------------------------------------------------------------------

inline constexpr int warp = 32;

// One element of a dtype in a register, as a number.
inline double element(DType dtype, std::uint64_t word, int index) {
  switch (dtype) {
    case DType::fp64:
      return std::bit_cast<double>(word);
    case DType::tf32:
      return std::bit_cast<float>(std::uint32_t(word) & ~0x1fffu);
    case DType::fp16:
      return cpu::from_fp16(std::uint16_t(word >> 16 * index));
    case DType::bf16:
      return cpu::from_bf16(std::uint16_t(word >> 16 * index));
    case DType::fp4: {  // e2m1
      constexpr double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
      const int bits = int(word >> 4 * index & 15);
      return (bits & 8) != 0 ? -sizes[bits & 7] : sizes[bits & 7];
    }
    case DType::int8:
      return std::int8_t(word >> 8 * index);
    case DType::int4:
      return std::int8_t(std::uint8_t(word >> 4 * index) << 4) / 16;
    case DType::fp8: {  // e4m3
      const int bits = int(word >> 8 * index & 0xff);
      const int exponent = bits >> 3 & 15, fraction = bits & 7;
      const double size =
          exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
      return (bits & 0x80) != 0 ? -size : size;
    }
    default:
      return std::bit_cast<float>(std::uint32_t(word));
  }
}

constexpr int bits_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 64;
    case DType::fp16:
    case DType::bf16:
      return 16;
    case DType::int8:
    case DType::fp8:
      return 8;
    case DType::fp4:
    case DType::int4:
      return 4;
    default:
      return 32;
  }
}

// Registers of a fragment, each with the 32 words of a warp.
template <class Word, int count>
using WarpFragment = std::array<std::array<Word, warp>, count>;

template <class Arithmetic>
struct HostMma {
  using Register =
      std::conditional_t<Arithmetic::dtype == DType::fp64, std::uint64_t, std::uint32_t>;
  using Left = WarpFragment<Register, Arithmetic::a>;
  using Right = WarpFragment<Register, Arithmetic::b>;
  using Accumulator = WarpFragment<Register, Arithmetic::c>;
  using Metadata = std::array<Register, warp>;

  static constexpr int m = Arithmetic::m, n = Arithmetic::n, k = Arithmetic::k;
  static constexpr int per_register =
      Arithmetic::dtype == DType::fp64 ? 1 : 32 / bits_of(Arithmetic::dtype);

  // With the metadata 0x4444…, a sparse A holds the first two of each four columns (TF32: the
  // first of each two).
  static int column(int stored) {
    if (!Arithmetic::sparse) return stored;
    return Arithmetic::dtype == DType::tf32 ? 2 * stored : stored / 2 * 4 + stored % 2;
  }

  static void step(Accumulator& c, const Left& a, const Right& b, const Metadata&) {
    double left[m][k] = {}, right[k][n] = {};
    for (int lane = 0; lane < warp; ++lane) {
      const int group = lane / 4, place = lane % 4;
      for (int r = 0; r < Arithmetic::a; ++r)
        for (int i = 0; i < per_register; ++i)
          left[group + 8 * (r % 2)][column(per_register * (place + r / 2 * 4) + i)] =
              element(Arithmetic::dtype, a[r][lane], i);
      for (int r = 0; r < Arithmetic::b; ++r)
        for (int i = 0; i < per_register; ++i)
          right[per_register * (place + 4 * r) + i][group] =
              element(Arithmetic::dtype, b[r][lane], i);
    }
    for (int lane = 0; lane < warp; ++lane)
      for (int r = 0; r < Arithmetic::c; ++r) accumulate(c[r][lane], lane, r, left, right);
  }

 private:
  static double dot(const double (&left)[m][k], const double (&right)[k][n], int row, int col) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += left[row][i] * right[i][col];
    return sum;
  }

  static void accumulate(Register& c, int lane, int r, const double (&left)[m][k],
                         const double (&right)[k][n]) {
    const int group = lane / 4, col = 2 * (lane % 4);
    if constexpr (Arithmetic::accumulate == DType::fp16) {
      const auto half = [&](int shift, int column_of_c) {
        const auto old = cpu::from_fp16(std::uint16_t(c >> shift));
        return std::uint32_t{cpu::to_fp16(old + dot(left, right, group + 8 * r, column_of_c))}
               << shift;
      };
      c = half(0, col) | half(16, col + 1);
    } else {
      const double sum = dot(left, right, group + 8 * (r / 2), col + r % 2);
      if constexpr (Arithmetic::accumulate == DType::fp64)
        c = std::bit_cast<std::uint64_t>(std::bit_cast<double>(c) + sum);
      else if constexpr (Arithmetic::accumulate == DType::fp32)
        c = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<float>(c) + sum));
      else
        c += static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
    }
  }
};

// The shape of sm_72: lanes 0–3 and 16–19 have the first of four products, 4–7 and 20–23 the next …
template <class Arithmetic>
struct HostQuarters {
  using Register = std::uint32_t;
  using Left = WarpFragment<Register, Arithmetic::a>;
  using Right = WarpFragment<Register, Arithmetic::b>;
  using Accumulator = WarpFragment<Register, Arithmetic::c>;
  using Metadata = std::array<Register, warp>;

  static void step(Accumulator& c, const Left& a, const Right& b, const Metadata&) {
    // A lane has one row of A and one column of B.
    double left[4][8][4], right[4][8][4];
    for (int lane = 0; lane < warp; ++lane)
      for (int i = 0; i < 4; ++i) {
        left[quarter(lane)][line(lane)][i] = element(DType::fp16, a[i / 2][lane], i % 2);
        right[quarter(lane)][line(lane)][i] = element(DType::fp16, b[i / 2][lane], i % 2);
      }
    for (int lane = 0; lane < warp; ++lane)
      for (int i = 0; i < 8; ++i) {
        const bool halves = Arithmetic::accumulate == DType::fp16;
        const int row = halves ? line(lane) : (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4);
        const int column = halves ? i : (i & 4) + (lane & 2) + (i & 1);
        double sum = 0;
        for (int k = 0; k < 4; ++k)
          sum += left[quarter(lane)][row][k] * right[quarter(lane)][column][k];
        add(c, lane, i, sum);
      }
  }

 private:
  static int quarter(int lane) { return lane % 16 / 4; }
  static int line(int lane) { return lane % 4 + (lane < 16 ? 0 : 4); }
  static void add(Accumulator& c, int lane, int i, double sum) {
    if constexpr (Arithmetic::accumulate == DType::fp16) {
      const int shift = 16 * (i % 2);
      Register& word = c[i / 2][lane];
      const auto old = cpu::from_fp16(std::uint16_t(word >> shift));
      word = (word & ~(0xffffu << shift)) | std::uint32_t{cpu::to_fp16(old + sum)} << shift;
    } else {
      Register& word = c[i][lane];
      word = std::bit_cast<Register>(static_cast<float>(std::bit_cast<float>(word) + sum));
    }
  }
};
template <>
struct HostMma<MmaFp16K4> : HostQuarters<MmaFp16K4> {};
template <>
struct HostMma<MmaFp16Fp16K4> : HostQuarters<MmaFp16Fp16K4> {};

// Operands are all equal: every element of C grows by the same, wherever it is.
template <class Arithmetic>
struct HostEqual {
  using Register = std::uint32_t;
  using Left = WarpFragment<Register, Arithmetic::a>;
  using Right = WarpFragment<Register, Arithmetic::b>;
  using Accumulator = WarpFragment<Register, Arithmetic::c>;
  using Metadata = std::array<Register, warp>;

  static void step(Accumulator& c, const Left& a, const Right& b, const Metadata&) {
    const double product =
        element(Arithmetic::dtype, a[0][0], 0) * element(Arithmetic::dtype, b[0][0], 0);
    for (auto& part : c)
      for (Register& word : part) add(word, Arithmetic::k * product);
  }

 private:
  static void add(Register& word, double sum) {
    if constexpr (Arithmetic::accumulate == DType::fp16)
      word = by_halves(word, 0, [&](std::uint16_t half, std::uint16_t) {
        return cpu::to_fp16(cpu::from_fp16(half) + sum);
      });
    else if constexpr (Arithmetic::accumulate == DType::fp32)
      word = std::bit_cast<Register>(static_cast<float>(std::bit_cast<float>(word) + sum));
    else
      word += static_cast<Register>(static_cast<std::int64_t>(sum));
  }
};
template <>
struct HostMma<WmmaInt8> : HostEqual<WmmaInt8> {};
template <>
struct HostMma<WgmmaFp16> : HostEqual<WgmmaFp16> {};
template <>
struct HostMma<WgmmaFp16Fp16> : HostEqual<WgmmaFp16Fp16> {};
template <>
struct HostMma<WgmmaBf16> : HostEqual<WgmmaBf16> {};
template <>
struct HostMma<WgmmaTf32> : HostEqual<WgmmaTf32> {};
template <>
struct HostMma<WgmmaFp8> : HostEqual<WgmmaFp8> {};
template <>
struct HostMma<WgmmaFp8Fp16> : HostEqual<WgmmaFp8Fp16> {};
template <>
struct HostMma<WgmmaInt8> : HostEqual<WgmmaInt8> {};
template <>
struct HostMma<Tcgen05Fp16> : HostEqual<Tcgen05Fp16> {};
template <>
struct HostMma<Tcgen05Fp16Fp16> : HostEqual<Tcgen05Fp16Fp16> {};
template <>
struct HostMma<Tcgen05Bf16> : HostEqual<Tcgen05Bf16> {};
template <>
struct HostMma<Tcgen05Tf32> : HostEqual<Tcgen05Tf32> {};
template <>
struct HostMma<Tcgen05Fp8> : HostEqual<Tcgen05Fp8> {};
template <>
struct HostMma<Tcgen05Fp8Fp16> : HostEqual<Tcgen05Fp8Fp16> {};
template <>
struct HostMma<Tcgen05MxFp8> : HostEqual<Tcgen05MxFp8> {};
template <>
struct HostMma<Tcgen05MxFp4> : HostEqual<Tcgen05MxFp4> {};
template <>
struct HostMma<Tcgen05NvFp4> : HostEqual<Tcgen05NvFp4> {};
template <>
struct HostMma<Tcgen05Int8> : HostEqual<Tcgen05Int8> {};

}  // namespace ridgeline::cuda
