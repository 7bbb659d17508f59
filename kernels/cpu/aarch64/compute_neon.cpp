// Peak kernels for NEON: FP64, FP32 and FP16 fused multiply-add in 24 chains of 128 bits.
// Cores start up to four per cycle with a latency of four: 16 chains would leave no slack.
#include "kernels/cpu/aarch64/asm.h"
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

// fmla adds into its destination: x ← x·x + c would need a move for every step. Two steps in
// turn need none: x ← x + x·x, then x ← x + a·b, which together are that same map, shifted.
// a is in register 30, b in 31, chains in 0 … 23; the state holds a, b and then the chains.
#define LOAD(i, ...) "ldr q" #i ", [%[s], #16*(" #i "+2)]\n"
#define STORE(i, ...) "str q" #i ", [%[s], #16*(" #i "+2)]\n"
#define SQUARE(i, form) "fmla v" #i "." form ", v" #i "." form ", v" #i "." form "\n"
#define SHIFT(i, form) "fmla v" #i "." form ", v30." form ", v31." form "\n"
#define LOAD_STATE "ldp q30, q31, [%[s]]\n" RIDGELINE_FOR_24(LOAD, )
#define FMA_BODY(function, form)                                                            \
  RIDGELINE_COMPUTE_BODY(function, LOAD_STATE,                                              \
                         RIDGELINE_FOR_24(SQUARE, form) RIDGELINE_FOR_24(SHIFT, form), "2", \
                         RIDGELINE_FOR_24(STORE, ))

FMA_BODY(fma_neon_fp64, "2d")
FMA_BODY(fma_neon_fp32, "4s")
RIDGELINE_WITH_FP16 FMA_BODY(fma_neon_fp16, "8h")
// Four FMA per five additions, which take a cycle each: one pipe would be four fifths busy, so
// that the additions stay the critical path on cores with a single 128-bit pipe too.
#define TICK "add %[c], %[c], %[c]\n"
#define TICKS_AND_FMA(i, j, form) \
  TICK SQUARE(i, form)            \
  TICK SQUARE(j, form)            \
  TICK SHIFT(i, form)             \
  TICK SHIFT(j, form)             \
  TICK
    RIDGELINE_COMPUTE_BODY(clock_neon, LOAD_STATE, RIDGELINE_FOR_8_PAIRS(TICKS_AND_FMA, "2d"), "1",
                           "")

        constexpr Kernel row(std::string_view name, Isa isa, Issue issue, DType dtype, int lanes,
                             std::string_view registers, Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::compute,
          .issue = issue,
          .unit = Unit::vector,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::fma_accumulate,
          .chains = 24,
          .arithmetic = 24 * 4,
          .mnemonics = "fmla",
          .flop_each = 2 * lanes,
          .access_bytes = 16,
          .registers = registers,
          .probe = "clock_neon",
          .body = body};
}

constexpr Kernel rows[] = {
    row("fma_neon_fp64", Isa::neon, Issue::fma_128, DType::fp64, 2, "v.2d", fma_neon_fp64),
    row("fma_neon_fp32", Isa::neon, Issue::fma_128, DType::fp32, 4, "v.4s", fma_neon_fp32),
    row("fma_neon_fp16", Isa::neon_fp16, Issue::fma_fp16_128, DType::fp16, 8, "v.8h",
        fma_neon_fp16),
    {.name = "clock_neon",
     .isa = Isa::neon,
     .role = Role::clock,
     .dtype = DType::fp64,
     .accumulate = DType::fp64,
     .recurrence = Recurrence::fma_accumulate,
     .chains = 24,
     .arithmetic = 32,
     .mnemonics = "fmla",
     .access_bytes = 16,
     .registers = "v.2d",
     .cycles = 40,
     .body = clock_neon},
};

}  // namespace

std::span<const Kernel> compute_neon() { return rows; }

}  // namespace ridgeline::cpu::aarch64
