// How a GPU takes one step of each arithmetic: one PTX instruction, on registers.
// C++17 and clean for CUDA 11.4 to 13; no header of the toolkit beside what nvcc brings itself.
#pragma once

#include <cstdint>

#include "kernels/cuda/arithmetic.h"

namespace ridgeline::cuda {

template <class Arithmetic>
struct DeviceCore;

// Not volatile: equal chains and results that are never stored must vanish, for the proof to see.
// NOLINTBEGIN(bugprone-macro-parentheses): the text of an assembler statement has none.
#define RIDGELINE_CORE(Arithmetic, Type, letter, count, text)                                  \
  template <>                                                                                  \
  struct DeviceCore<Arithmetic> {                                                              \
    using Register = Type;                                                                     \
    static constexpr int constants = count;                                                    \
    static __device__ __forceinline__ void step(Register& x, const Register (&k)[constants]) { \
      asm(text : "+" letter(x) : letter(k[0]), letter(k[constants - 1]));                      \
    }                                                                                          \
  };
// NOLINTEND(bugprone-macro-parentheses)

RIDGELINE_CORE(FmaFp64, double, "d", 1, "fma.rn.f64 %0, %0, %0, %1;")
RIDGELINE_CORE(FmaFp32, float, "f", 1, "fma.rn.f32 %0, %0, %0, %1;")
RIDGELINE_CORE(FmaFp16x2, std::uint32_t, "r", 1, "fma.rn.f16x2 %0, %0, %0, %1;")
RIDGELINE_CORE(FmaBf16x2, std::uint32_t, "r", 1, "fma.rn.bf16x2 %0, %0, %0, %1;")
RIDGELINE_CORE(MadInt32, std::uint32_t, "r", 2, "mad.lo.s32 %0, %0, %1, %2;")
RIDGELINE_CORE(Dp4aInt8, std::uint32_t, "r", 1, "dp4a.s32.s32 %0, %0, %1, %0;")
#undef RIDGELINE_CORE

template <class Word, int count>
struct Fragment {
  Word words[count];
};

template <class Arithmetic, class Word>
struct MmaTypes {
  using Register = Word;
  using Left = Fragment<Word, Arithmetic::a>;
  using Right = Fragment<Word, Arithmetic::b>;
  using Accumulator = Fragment<Word, Arithmetic::c>;
  using Metadata = std::uint32_t;
};

template <class Arithmetic>
struct DeviceMma;

// Volatile: the products are the same in every step, and nothing may take them out of the loop.
#define RIDGELINE_STEP                                                            \
  static __device__ __forceinline__ void step(Accumulator& sum, const Left& left, \
                                              const Right& right, Metadata metadata)
#define RIDGELINE_MMA(Arithmetic, Word, Assembly)             \
  template <>                                                 \
  struct DeviceMma<Arithmetic> : MmaTypes<Arithmetic, Word> { \
    RIDGELINE_STEP {                                          \
      (void)metadata;                                         \
      Word(&c)[Arithmetic::c] = sum.words;                    \
      const Word(&a)[Arithmetic::a] = left.words;             \
      const Word(&b)[Arithmetic::b] = right.words;            \
      Assembly;                                               \
    }                                                         \
  };

// By the number of registers of A, B and C.
#define RIDGELINE_MMA_424(text)                                                        \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define RIDGELINE_MMA_422(text)                                        \
  asm volatile(text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
               : "+r"(c[0]), "+r"(c[1])                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define RIDGELINE_MMA_214(text)                                            \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])            \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define RIDGELINE_MMA_212(text)                            \
  asm volatile(text " {%0, %1}, {%2, %3}, {%4}, {%0, %1};" \
               : "+r"(c[0]), "+r"(c[1])                    \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))
#define RIDGELINE_MMA_112(text, letter)                \
  asm volatile(text " {%0, %1}, {%2}, {%3}, {%0, %1};" \
               : "+" letter(c[0]), "+" letter(c[1])    \
               : letter(a[0]), letter(b[0]))

#define RIDGELINE_MMA_224(text)                                                \
  asm volatile(text " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3};" \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
#define RIDGELINE_MMA_228(text)                                                          \
  asm volatile(text                                                                      \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "               \
               "{%0, %1, %2, %3, %4, %5, %6, %7};"                                       \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), \
                 "+r"(c[6]), "+r"(c[7])                                                  \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))

// From CUDA 12.5 on there is a form that newer architectures have in one instruction.
#if __CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 5)
#define RIDGELINE_MMA_SP "mma.sp::ordered_metadata.sync.aligned."
#else
#define RIDGELINE_MMA_SP "mma.sp.sync.aligned."
#endif
#define RIDGELINE_SPARSE_444(shape)                                                           \
  asm volatile(RIDGELINE_MMA_SP shape                                                         \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, "  \
               "%12, 0x0;"                                                                    \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), \
                 "r"(b[3]), "r"(metadata))

}  // namespace ridgeline::cuda
