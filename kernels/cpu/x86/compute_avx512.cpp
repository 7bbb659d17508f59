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
#define FMA_BODY(function, suffix)                                \
  RIDGELINE_COMPUTE_BODY(function, LOAD_STATE, RIDGELINE_LIST_16, \
                         "vfmadd213" suffix " %%zmm31, %%zmm\\i, %%zmm\\i\n", "4", STORE_STATE)

FMA_BODY(fma_avx512_fp64, "pd")
FMA_BODY(fma_avx512_fp32, "ps")
FMA_BODY(fma_avx512_fp16, "ph")

// Per imul (3 cycles) five FMA: the two 512-bit ports are 83 % busy, so the clock is that of
// the full load, while the chain of imuls stays the critical path (six FMA would delay it).
void clock_avx512(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  std::uint64_t chain = 3;
  asm volatile(LOAD_STATE
               ".p2align 6\n"
               "1:\n"
               ".rept 2\n"
               "imul %[c], %[c]\n"
               ".irp i,0,1,2,3,4\n vfmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n.endr\n"
               "imul %[c], %[c]\n"
               ".irp i,5,6,7,8,9\n vfmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n.endr\n"
               "imul %[c], %[c]\n"
               ".irp i,10,11,12,13,14\n vfmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n.endr\n"
               ".endr\n"
               "dec %[n]\n"
               "jnz 1b\n"
               "vzeroupper\n"
               : [n] "+r"(repeats), [c] "+r"(chain)
               : [s] "r"(data)
               : "memory", "cc", RIDGELINE_VECTOR_CLOBBERS);
}

constexpr Kernel row(std::string_view name, Isa isa, Issue issue, DType dtype,
                     std::string_view mnemonic, int lanes, Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::compute,
          .issue = issue,
          .unit = Unit::vector,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = Recurrence::fma,
          .chains = 16,
          .arithmetic = 16 * 4,
          .mnemonics = mnemonic,
          .flop_each = 2 * lanes,
          .access_bytes = 64,
          .registers = "zmm",
          .probe = "clock_avx512",
          .body = body};
}

constexpr Kernel rows[] = {
    row("fma_avx512_fp64", Isa::avx512f, Issue::fma_512, DType::fp64, "vfmadd213pd", 8,
        fma_avx512_fp64),
    row("fma_avx512_fp32", Isa::avx512f, Issue::fma_512, DType::fp32, "vfmadd213ps", 16,
        fma_avx512_fp32),
    row("fma_avx512_fp16", Isa::avx512_fp16, Issue::fma_fp16_512, DType::fp16, "vfmadd213ph", 32,
        fma_avx512_fp16),
    {.name = "clock_avx512",
     .isa = Isa::avx512f,
     .role = Role::clock,
     .dtype = DType::fp64,
     .accumulate = DType::fp64,
     .recurrence = Recurrence::fma,
     .chains = 16,
     .arithmetic = 30,
     .mnemonics = "vfmadd213pd",
     .access_bytes = 64,
     .registers = "zmm",
     .cycles = 6 * 3,
     .body = clock_avx512},
};

}  // namespace

std::span<const Kernel> compute_avx512() { return rows; }

}  // namespace ridgeline::cpu::x86
