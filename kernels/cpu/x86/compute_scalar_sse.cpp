// Peak kernels for CPUs without FMA: scalar and 128-bit multiplications and additions.
// Each chain computes x ← x·x + c, which stays bounded and toggles all mantissa bits.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// c is in register 15, chains in 0 … 13; the state holds c and then the chains.
#define MULADD_BODY(function, suffix)                             \
  RIDGELINE_COMPUTE_BODY(function,                                \
                         "movups (%[s]), %%xmm15\n"               \
                         ".irp i," RIDGELINE_LIST_14              \
                         "\n movups 16*(\\i+1)(%[s]), %%xmm\\i\n" \
                         ".endr\n",                               \
                         RIDGELINE_LIST_14,                       \
                         "mul" suffix                             \
                         " %%xmm\\i, %%xmm\\i\n"                  \
                         "add" suffix " %%xmm15, %%xmm\\i\n",     \
                         "4",                                     \
                         ".irp i," RIDGELINE_LIST_14              \
                         "\n movups %%xmm\\i, 16*(\\i+1)(%[s])\n" \
                         ".endr\n")

MULADD_BODY(muladd_scalar_fp64, "sd")
MULADD_BODY(muladd_scalar_fp32, "ss")
MULADD_BODY(muladd_sse4_fp64, "pd")
MULADD_BODY(muladd_sse4_fp32, "ps")

// One imul (3 cycles on Intel since Nehalem and on AMD Zen) beside two multiplications and two
// additions: the chain of imuls is the critical path, the load is that of the kernels above.
#define MULADD_CLOCK_BODY(function, suffix)                                        \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) { \
    std::uint64_t chain = 3;                                                       \
    asm volatile(                                                                  \
        "movups (%[s]), %%xmm15\n"                                                 \
        ".irp i," RIDGELINE_LIST_14                                                \
        "\n movups 16*(\\i+1)(%[s]), %%xmm\\i\n.endr\n"                            \
        ".p2align 6\n"                                                             \
        "1:\n"                                                                     \
        ".irp i,0,2,4,6,8,10\n"                                                    \
        "imul %[c], %[c]\n"                                                        \
        "mul" suffix                                                               \
        " %%xmm\\i, %%xmm\\i\n"                                                    \
        "add" suffix                                                               \
        " %%xmm15, %%xmm\\i\n"                                                     \
        ".endr\n"                                                                  \
        "dec %[n]\n"                                                               \
        "jnz 1b\n"                                                                 \
        : [n] "+r"(repeats), [c] "+r"(chain)                                       \
        : [s] "r"(data)                                                            \
        : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                              \
  }

MULADD_CLOCK_BODY(clock_scalar, "sd")
MULADD_CLOCK_BODY(clock_sse4, "pd")

constexpr Kernel row(std::string_view name, Isa isa, Issue issue, Unit unit, DType dtype,
                     std::string_view mnemonics, int lanes, std::string_view probe, Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::compute,
          .issue = issue,
          .unit = unit,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::mul_add,
          .chains = 14,
          .arithmetic = 2 * 14 * 4,
          .mnemonics = mnemonics,
          .flop_each = lanes,
          .access_bytes = 16,
          .registers = "xmm",
          .probe = probe,
          .body = body};
}

constexpr Kernel clock_row(std::string_view name, Isa isa, std::string_view mnemonics, Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::clock,
          .dtype = DType::fp64,
          .accumulate = DType::fp64,
          .recurrence = Recurrence::mul_add,
          .chains = 14,
          .arithmetic = 12,
          .mnemonics = mnemonics,
          .access_bytes = 16,
          .registers = "xmm",
          .cycles = 6 * 3,
          .body = body};
}

constexpr Kernel rows[] = {
    row("muladd_scalar_fp64", Isa::baseline, Issue::muladd_scalar, Unit::scalar, DType::fp64,
        "mulsd|addsd", 1, "clock_scalar", muladd_scalar_fp64),
    row("muladd_scalar_fp32", Isa::baseline, Issue::muladd_scalar, Unit::scalar, DType::fp32,
        "mulss|addss", 1, "clock_scalar", muladd_scalar_fp32),
    row("muladd_sse4_fp64", Isa::sse4, Issue::muladd_128, Unit::vector, DType::fp64, "mulpd|addpd",
        2, "clock_sse4", muladd_sse4_fp64),
    row("muladd_sse4_fp32", Isa::sse4, Issue::muladd_128, Unit::vector, DType::fp32, "mulps|addps",
        4, "clock_sse4", muladd_sse4_fp32),
    clock_row("clock_scalar", Isa::baseline, "mulsd|addsd", clock_scalar),
    clock_row("clock_sse4", Isa::sse4, "mulpd|addpd", clock_sse4),
};

}  // namespace

std::span<const Kernel> compute_scalar_sse() { return rows; }

}  // namespace ridgeline::cpu::x86
