// Peak kernels for AVX-512: FP64, FP32 and FP16 fused multiply-add in 16 chains of 512 bits.
// Sixteen chains are twice what latency 4 × 2 ports needs, so a late chain costs nothing.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// c is in register 31, chains in 0 … 15; the state holds c and then the chains.
#define LOAD_STATE            \
  "vmovups (%[s]), %%zmm31\n" \
  ".irp i," RIDGELINE_LIST_16 "\n vmovups 64*(\\i+1)(%[s]), %%zmm\\i\n.endr\n"
#define STORE_STATE \
  ".irp i," RIDGELINE_LIST_16 "\n vmovups %%zmm\\i, 64*(\\i+1)(%[s])\n.endr\nvzeroupper\n"
#define STEP(suffix) "vfmadd213" suffix " %%zmm31, %%zmm\\i, %%zmm\\i\n"

// Per imul (3 cycles) five FMA: the two 512-bit ports are 83 % busy, so the clock is that of
// the full load, while the chain of imuls stays the critical path (six FMA would delay it).
#define FMA_BODIES(name, suffix)                                                               \
  RIDGELINE_COMPUTE_BODY(fma_avx512_##name, LOAD_STATE, RIDGELINE_LIST_16, STEP(suffix), "4",  \
                         STORE_STATE)                                                          \
  RIDGELINE_CLOCK_BODY(clock_fma_avx512_##name, LOAD_STATE, "0,1", "2,3", "4,5", STEP(suffix), \
                       "vzeroupper\n")

FMA_BODIES(fp64, "pd")
FMA_BODIES(fp32, "ps")
FMA_BODIES(fp16, "ph")

constexpr Kernel family{.isa = Isa::avx512f,
                        .recurrence = Recurrence::fma,
                        .chains = 16,
                        .arithmetic = 16 * 4,
                        .access_bytes = 64,
                        .registers = "zmm"};

constexpr Kernel fp64 =
    compute_row(family, "fma_avx512_fp64", "clock_fma_avx512_fp64", Issue::fma_512, DType::fp64,
                "vfmadd213pd", 2 * 8, fma_avx512_fp64);
constexpr Kernel fp32 =
    compute_row(family, "fma_avx512_fp32", "clock_fma_avx512_fp32", Issue::fma_512, DType::fp32,
                "vfmadd213ps", 2 * 16, fma_avx512_fp32);
constexpr Kernel fp16 = [] {
  Kernel kernel =
      compute_row(family, "fma_avx512_fp16", "clock_fma_avx512_fp16", Issue::fma_fp16_512,
                  DType::fp16, "vfmadd213ph", 2 * 32, fma_avx512_fp16);
  kernel.isa = Isa::avx512_fp16;
  return kernel;
}();

constexpr Kernel rows[] = {
    fp64,
    fp32,
    fp16,
    clock_row(fp64, 12, 18, clock_fma_avx512_fp64),
    clock_row(fp32, 12, 18, clock_fma_avx512_fp32),
    clock_row(fp16, 12, 18, clock_fma_avx512_fp16),
};

}  // namespace

std::span<const Kernel> compute_avx512() { return rows; }

}  // namespace ridgeline::cpu::x86
