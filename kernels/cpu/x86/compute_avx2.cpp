// Peak kernels for AVX2 with FMA: scalar and 256-bit fused multiply-add in 14 chains.
// Eight chains would just cover latency 4 × 2 ports and lose up to a fifth on a busy scheduler.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// c is in register 15, chains in 0 … 13; the state holds c and then the chains.
#define FMA_BODY(function, move, suffix, reg, width)                                           \
  RIDGELINE_COMPUTE_BODY(function,                                                             \
                         move " (%[s]), %%" reg                                                \
                              "15\n"                                                           \
                              ".irp i," RIDGELINE_LIST_14 "\n " move " " width                 \
                              "*(\\i+1)(%[s]), %%" reg "\\i\n.endr\n",                         \
                         RIDGELINE_LIST_14,                                                    \
                         "vfmadd213" suffix " %%" reg "15, %%" reg "\\i, %%" reg "\\i\n", "4", \
                         ".irp i," RIDGELINE_LIST_14 "\n " move " %%" reg "\\i, " width        \
                         "*(\\i+1)(%[s])\n.endr\nvzeroupper\n")

FMA_BODY(fma_scalar_fp64, "vmovups", "sd", "xmm", "16")
FMA_BODY(fma_scalar_fp32, "vmovups", "ss", "xmm", "16")
FMA_BODY(fma_avx2_fp64, "vmovups", "pd", "ymm", "32")
FMA_BODY(fma_avx2_fp32, "vmovups", "ps", "ymm", "32")

// imul shares a port with one of the two FMA units: four FMA per three cycles leave it free.
#define FMA_CLOCK_BODY(function, suffix, reg, width)                                      \
  void function(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {        \
    std::uint64_t chain = 3;                                                              \
    asm volatile("vmovups (%[s]), %%" reg                                                 \
                 "15\n"                                                                   \
                 ".irp i," RIDGELINE_LIST_14 "\n vmovups " width "*(\\i+1)(%[s]), %%" reg \
                 "\\i\n.endr\n"                                                           \
                 ".p2align 6\n"                                                           \
                 "1:\n"                                                                   \
                 ".irp j,0,4,8\n"                                                         \
                 "imul %[c], %[c]\n"                                                      \
                 ".irp i,0,1,2,3\n"                                                       \
                 "vfmadd213" suffix " %%" reg "15, %%" reg "\\i, %%" reg                  \
                 "\\i\n"                                                                  \
                 ".endr\n"                                                                \
                 "imul %[c], %[c]\n"                                                      \
                 ".irp i,4,5,6,7\n"                                                       \
                 "vfmadd213" suffix " %%" reg "15, %%" reg "\\i, %%" reg                  \
                 "\\i\n"                                                                  \
                 ".endr\n"                                                                \
                 ".endr\n"                                                                \
                 "dec %[n]\n"                                                             \
                 "jnz 1b\n"                                                               \
                 "vzeroupper\n"                                                           \
                 : [n] "+r"(repeats), [c] "+r"(chain)                                     \
                 : [s] "r"(data)                                                          \
                 : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);                            \
  }

FMA_CLOCK_BODY(clock_fma_scalar, "sd", "xmm", "16")
FMA_CLOCK_BODY(clock_avx2, "pd", "ymm", "32")

constexpr Kernel row(std::string_view name, Issue issue, Unit unit, DType dtype,
                     std::string_view mnemonic, int lanes, int register_bytes,
                     std::string_view registers, std::string_view probe, Body body) {
  return {.name = name,
          .isa = Isa::avx2_fma,
          .role = Role::compute,
          .issue = issue,
          .unit = unit,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::fma,
          .chains = 14,
          .arithmetic = 14 * 4,
          .mnemonics = mnemonic,
          .flop_each = 2 * lanes,
          .access_bytes = register_bytes,
          .registers = registers,
          .probe = probe,
          .body = body};
}

constexpr Kernel clock_row(std::string_view name, std::string_view mnemonic, int register_bytes,
                           std::string_view registers, Body body) {
  return {.name = name,
          .isa = Isa::avx2_fma,
          .role = Role::clock,
          .dtype = DType::fp64,
          .accumulate = DType::fp64,
          .recurrence = Recurrence::fma,
          .chains = 14,
          .arithmetic = 24,
          .mnemonics = mnemonic,
          .access_bytes = register_bytes,
          .registers = registers,
          .cycles = 6 * 3,
          .body = body};
}

constexpr Kernel rows[] = {
    row("fma_scalar_fp64", Issue::fma_scalar, Unit::scalar, DType::fp64, "vfmadd213sd", 1, 16,
        "xmm", "clock_fma_scalar", fma_scalar_fp64),
    row("fma_scalar_fp32", Issue::fma_scalar, Unit::scalar, DType::fp32, "vfmadd213ss", 1, 16,
        "xmm", "clock_fma_scalar", fma_scalar_fp32),
    row("fma_avx2_fp64", Issue::fma_256, Unit::vector, DType::fp64, "vfmadd213pd", 4, 32, "ymm",
        "clock_avx2", fma_avx2_fp64),
    row("fma_avx2_fp32", Issue::fma_256, Unit::vector, DType::fp32, "vfmadd213ps", 8, 32, "ymm",
        "clock_avx2", fma_avx2_fp32),
    clock_row("clock_fma_scalar", "vfmadd213sd", 16, "xmm", clock_fma_scalar),
    clock_row("clock_avx2", "vfmadd213pd", 32, "ymm", clock_avx2),
};

}  // namespace

std::span<const Kernel> compute_avx2() { return rows; }

}  // namespace ridgeline::cpu::x86
