// The intensity sweep: load each element from memory and run n FMA on it, n = 0 … 256.
// Everything is unrolled, so that the innermost loop holds the loads and all the arithmetic.
#include "kernels/cpu/aarch64/asm.h"
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

// The two steps of compute_neon.cpp in turn, n in all for each vector of a block; their constants
// are those of kernels/cpu/state.cpp. The last block's results are stored at data + pitch, where
// a test compares them with the reference.
#define LOAD(i, ...) "ldr q" #i ", [%[p], #16*" #i "]\n"
#define STORE(i, ...) "str q" #i ", [%[p], #16*" #i "]\n"
#define SQUARE(i, form) "fmla v" #i "." form ", v" #i "." form ", v" #i "." form "\n"
#define SHIFT(i, form) "fmla v" #i "." form ", v30." form ", v31." form "\n"
// Hints for blocks to come: the arithmetic of a block outlasts the core's look-ahead.
#define PREFETCH ".irp k,0,1,2,3,4,5\n prfm pldl1keep, [%[p], #2048+64*\\k]\n.endr\n"
#define SWEEP_BODY(function, form, n)                                                     \
  RIDGELINE_STREAM_BODY(                                                                  \
      function, "fmov v30." form ", #1.375\n fmov v31." form ", #-1.5625\n",              \
      PREFETCH RIDGELINE_FOR_24(LOAD, ) ".rept " #n "/2\n" RIDGELINE_FOR_24(SQUARE, form) \
          RIDGELINE_FOR_24(SHIFT, form) ".endr\n.rept " #n                                \
                                        "&1\n" RIDGELINE_FOR_24(SQUARE, form) ".endr\n",  \
      "add %[p], %[p], #384\n", "add %[p], %[d], %[q]\n" RIDGELINE_FOR_24(STORE, ))
#define FP32(n) SWEEP_BODY(sweep_neon_fp32_##n, "4s", n)
#define FP64(n) SWEEP_BODY(sweep_neon_fp64_##n, "2d", n)

// One FMA count per row of the sweep.
#define FOR_EACH_COUNT(MACRO) \
  MACRO(0) MACRO(1) MACRO(2) MACRO(4) MACRO(8) MACRO(16) MACRO(32) MACRO(64) MACRO(128) MACRO(256)

FOR_EACH_COUNT(FP32)
FOR_EACH_COUNT(FP64)

constexpr Kernel row(std::string_view name, DType dtype, std::string_view registers, int n,
                     Body body) {
  constexpr int vectors = 24;
  return {.name = name,
          .isa = Isa::neon,
          .role = Role::sweep,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::fma_accumulate,
          .chains = n == 0 ? 0 : vectors,
          .arithmetic = vectors * n,
          .mnemonics = "fmla",
          .flop_each = 2 * 16 / (dtype == DType::fp64 ? 8 : 4),
          .loads = vectors,
          .prefetches = 6,
          .access_bytes = 16,
          .registers = registers,
          .arrays = 1,
          .fma_per_element = n,
          .body = body};
}

#define ROW_FP32(n) row("sweep_neon_fp32_" #n, DType::fp32, "q|v.4s", n, sweep_neon_fp32_##n),
#define ROW_FP64(n) row("sweep_neon_fp64_" #n, DType::fp64, "q|v.2d", n, sweep_neon_fp64_##n),

constexpr Kernel rows[] = {FOR_EACH_COUNT(ROW_FP32) FOR_EACH_COUNT(ROW_FP64)};

}  // namespace

std::span<const Kernel> sweep() { return rows; }

}  // namespace ridgeline::cpu::aarch64
