// Peak kernels for one element at a time: fused multiply-add in 24 chains.
// fmadd has a destination of its own, so each step is x ← x·x + c as on x86-64.
#include "kernels/cpu/aarch64/asm.h"
#include "kernels/cpu/aarch64/families.h"

namespace ridgeline::cpu::aarch64 {
namespace {

// c is in register 31, chains in 0 … 23; the state holds c and then the chains.
#define LOAD(i, reg, width) "ldr " reg #i ", [%[s], #" width "*(" #i "+1)]\n"
#define STORE(i, reg, width) "str " reg #i ", [%[s], #" width "*(" #i "+1)]\n"
#define STEP(i, reg) "fmadd " reg #i ", " reg #i ", " reg #i ", " reg "31\n"
#define FMA_BODY(function, reg, width)                                                           \
  RIDGELINE_COMPUTE_BODY(function, "ldr " reg "31, [%[s]]\n" RIDGELINE_FOR_24(LOAD, reg, width), \
                         RIDGELINE_FOR_24(STEP, reg), "4", RIDGELINE_FOR_24(STORE, reg, width))

FMA_BODY(fma_scalar_fp64, "d", "8")
FMA_BODY(fma_scalar_fp32, "s", "4")

constexpr Kernel row(std::string_view name, DType dtype, int register_bytes,
                     std::string_view registers, Body body) {
  return {.name = name,
          .isa = Isa::baseline,
          .role = Role::compute,
          .issue = Issue::fma_scalar,
          .unit = Unit::scalar,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::fma,
          .chains = 24,
          .arithmetic = 24 * 4,
          .mnemonics = "fmadd",
          .flop_each = 2,
          .access_bytes = register_bytes,
          .registers = registers,
          .probe = "clock_neon",
          .body = body};
}

constexpr Kernel rows[] = {
    row("fma_scalar_fp64", DType::fp64, 8, "d", fma_scalar_fp64),
    row("fma_scalar_fp32", DType::fp32, 4, "s", fma_scalar_fp32),
};

}  // namespace

std::span<const Kernel> compute_scalar() { return rows; }

}  // namespace ridgeline::cpu::aarch64
