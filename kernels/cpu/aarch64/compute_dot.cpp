// Dot-product kernel: INT8 into INT32 (sdot, ARMv8.2 dotprod).
// Two operand pairs alternate, so that no step repeats the one before it.
#include "kernels/cpu/aarch64/asm.h"
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

// A is in register 29, B in 30 and 31, chains in 0 … 23; the state holds A, B₀, B₁, chains.
#define LOAD(i, ...) "ldr q" #i ", [%[s], #16*(" #i "+3)]\n"
#define STORE(i, ...) "str q" #i ", [%[s], #16*(" #i "+3)]\n"
#define STEP(i, b) "sdot v" #i ".4s, v29.16b, " b ".16b\n"
RIDGELINE_WITH_DOTPROD RIDGELINE_COMPUTE_BODY(
    dot_neon_int8, "ldr q29, [%[s]]\n ldp q30, q31, [%[s], #16]\n" RIDGELINE_FOR_24(LOAD, ),
    RIDGELINE_FOR_24(STEP, "v30") RIDGELINE_FOR_24(STEP, "v31"), "2", RIDGELINE_FOR_24(STORE, ))

    constexpr Kernel rows[] = {
        {.name = "dot_neon_int8",
         .isa = Isa::neon_dotprod,
         .role = Role::compute,
         .issue = Issue::dot_int8_128,
         .unit = Unit::vector,
         .dtype = DType::int8,
         .accumulate = DType::int32,
         .recurrence = Recurrence::dot_s8s8,
         .chains = 24,
         .arithmetic = 24 * 4,
         .mnemonics = "sdot",
         .flop_each = 2 * 16,
         .access_bytes = 16,
         .registers = "v.4s|v.16b",
         .probe = "clock_neon",
         .body = dot_neon_int8},
};

}  // namespace

std::span<const Kernel> compute_dot() { return rows; }

}  // namespace ridgeline::cpu::aarch64
