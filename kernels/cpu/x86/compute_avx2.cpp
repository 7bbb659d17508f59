// Peak kernels for AVX2 with FMA: scalar and 256-bit fused multiply-add in 14 chains.
// Eight chains would just cover latency 4 × 2 ports and lose up to a fifth on a busy scheduler.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// c is in register 15, chains in 0 … 13; the state holds c and then the chains.
#define LOAD_STATE(reg, width)                                                 \
  "vmovups (%[s]), %%" reg "15\n.irp i," RIDGELINE_LIST_14 "\n vmovups " width \
  "*(\\i+1)(%[s]), %%" reg "\\i\n.endr\n"
#define STEP(suffix, reg) "vfmadd213" suffix " %%" reg "15, %%" reg "\\i, %%" reg "\\i\n"
#define STORE_STATE(reg, width)                                 \
  ".irp i," RIDGELINE_LIST_14 "\n vmovups %%" reg "\\i, " width \
  "*(\\i+1)(%[s])\n.endr\nvzeroupper\n"

// imul shares a port with one of the two FMA units: four FMA per three cycles leave it free.
#define FMA_BODIES(name, suffix, reg, width)                                                       \
  RIDGELINE_COMPUTE_BODY(fma_##name, LOAD_STATE(reg, width), RIDGELINE_LIST_14, STEP(suffix, reg), \
                         "4", STORE_STATE(reg, width))                                             \
  RIDGELINE_CLOCK_BODY(clock_fma_##name, LOAD_STATE(reg, width), "0,1,2,3", "4,5,6,7",             \
                       "8,9,10,11", STEP(suffix, reg), "vzeroupper\n")

FMA_BODIES(scalar_fp64, "sd", "xmm", "16")
FMA_BODIES(scalar_fp32, "ss", "xmm", "16")
FMA_BODIES(avx2_fp64, "pd", "ymm", "32")
FMA_BODIES(avx2_fp32, "ps", "ymm", "32")

constexpr Kernel family(Unit unit, int register_bytes, std::string_view registers) {
  return {.isa = Isa::avx2_fma,
          .unit = unit,
          .recurrence = Recurrence::fma,
          .chains = 14,
          .arithmetic = 14 * 4,
          .access_bytes = register_bytes,
          .registers = registers};
}
constexpr Kernel scalar = family(Unit::scalar, 16, "xmm");
constexpr Kernel avx2 = family(Unit::vector, 32, "ymm");

constexpr Kernel scalar_fp64 =
    compute_row(scalar, "fma_scalar_fp64", "clock_fma_scalar_fp64", Issue::fma_scalar, DType::fp64,
                "vfmadd213sd", 2, fma_scalar_fp64);
constexpr Kernel scalar_fp32 =
    compute_row(scalar, "fma_scalar_fp32", "clock_fma_scalar_fp32", Issue::fma_scalar, DType::fp32,
                "vfmadd213ss", 2, fma_scalar_fp32);
constexpr Kernel avx2_fp64 =
    compute_row(avx2, "fma_avx2_fp64", "clock_fma_avx2_fp64", Issue::fma_256, DType::fp64,
                "vfmadd213pd", 2 * 4, fma_avx2_fp64);
constexpr Kernel avx2_fp32 =
    compute_row(avx2, "fma_avx2_fp32", "clock_fma_avx2_fp32", Issue::fma_256, DType::fp32,
                "vfmadd213ps", 2 * 8, fma_avx2_fp32);

constexpr Kernel rows[] = {
    scalar_fp64,
    scalar_fp32,
    avx2_fp64,
    avx2_fp32,
    clock_row(scalar_fp64, 24, 18, clock_fma_scalar_fp64),
    clock_row(scalar_fp32, 24, 18, clock_fma_scalar_fp32),
    clock_row(avx2_fp64, 24, 18, clock_fma_avx2_fp64),
    clock_row(avx2_fp32, 24, 18, clock_fma_avx2_fp32),
};

}  // namespace

std::span<const Kernel> compute_avx2() { return rows; }

}  // namespace ridgeline::cpu::x86
