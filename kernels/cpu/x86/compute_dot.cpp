// Dot-product kernels: INT8 (AVX-VNNI, AVX512-VNNI) and BF16 (AVX512-BF16).
// Two operand pairs alternate, so that no step repeats the one before it.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// 512 bits: A in 28, B in 30 and 31, chains in 0 … 15; the state holds A, B₀, B₁, chains.
#define LOAD_STATE_512                                                                 \
  "vmovups (%[s]), %%zmm28\n vmovups 64(%[s]), %%zmm30\n vmovups 128(%[s]), %%zmm31\n" \
  ".irp i," RIDGELINE_LIST_16 "\n vmovups 64*(\\i+3)(%[s]), %%zmm\\i\n.endr\n"
#define DOT_512_BODIES(name, mnemonic)                                                          \
  RIDGELINE_COMPUTE_BODY(                                                                       \
      dot_avx512_##name, LOAD_STATE_512, "30,31",                                               \
      ".irp j," RIDGELINE_LIST_16 "\n " mnemonic " %%zmm\\i, %%zmm28, %%zmm\\j\n.endr\n", "2",  \
      ".irp i," RIDGELINE_LIST_16 "\n vmovups %%zmm\\i, 64*(\\i+3)(%[s])\n.endr\nvzeroupper\n") \
  RIDGELINE_CLOCK_BODY(clock_dot_avx512_##name, LOAD_STATE_512, "0,1,2,3,4", "5,6,7,8,9",       \
                       "10,11,12,13,14", mnemonic " %%zmm30, %%zmm28, %%zmm\\i\n", "vzeroupper\n")

DOT_512_BODIES(int8, "vpdpbusd")
DOT_512_BODIES(bf16, "vdpbf16ps")

// 256 bits: A in 13, B in 14 and 15, chains in 0 … 11.
#define LIST_12 "0,1,2,3,4,5,6,7,8,9,10,11"
#define LOAD_STATE_256                                                                \
  "vmovups (%[s]), %%ymm13\n vmovups 32(%[s]), %%ymm14\n vmovups 64(%[s]), %%ymm15\n" \
  ".irp i," LIST_12 "\n vmovups 32*(\\i+3)(%[s]), %%ymm\\i\n.endr\n"
RIDGELINE_COMPUTE_BODY(dot_avx2_int8, LOAD_STATE_256, "14,15",
                       ".irp j," LIST_12 "\n %{vex%} vpdpbusd %%ymm\\i, %%ymm13, %%ymm\\j\n.endr\n",
                       "2",
                       ".irp i," LIST_12
                       "\n vmovups %%ymm\\i, 32*(\\i+3)(%[s])\n.endr\nvzeroupper\n")
RIDGELINE_CLOCK_BODY(clock_dot_avx2_int8, LOAD_STATE_256, "0,1,2,3", "4,5,6,7", "8,9,10,11",
                     "%{vex%} vpdpbusd %%ymm14, %%ymm13, %%ymm\\i\n", "vzeroupper\n")

constexpr Kernel row(std::string_view name, Isa isa, Issue issue, DType dtype, DType accumulate,
                     Recurrence recurrence, int chains, std::string_view mnemonic, int flop_each,
                     int register_bytes, std::string_view registers, std::string_view probe,
                     Body body) {
  return {.name = name,
          .isa = isa,
          .role = Role::compute,
          .issue = issue,
          .unit = Unit::vector,
          .dtype = dtype,
          .accumulate = accumulate,
          .recurrence = recurrence,
          .chains = chains,
          .arithmetic = chains * 4,
          .mnemonics = mnemonic,
          .flop_each = flop_each,
          .access_bytes = register_bytes,
          .registers = registers,
          .probe = probe,
          .body = body};
}

constexpr Kernel avx2_int8 = row("dot_avx2_int8", Isa::avx_vnni, Issue::dot_int8_256, DType::int8,
                                 DType::int32, Recurrence::dot_u8s8, 12, "vpdpbusd", 2 * 32, 32,
                                 "ymm", "clock_dot_avx2_int8", dot_avx2_int8);
constexpr Kernel avx512_int8 = row("dot_avx512_int8", Isa::avx512_vnni, Issue::dot_int8_512,
                                   DType::int8, DType::int32, Recurrence::dot_u8s8, 16, "vpdpbusd",
                                   2 * 64, 64, "zmm", "clock_dot_avx512_int8", dot_avx512_int8);
constexpr Kernel avx512_bf16 = row("dot_avx512_bf16", Isa::avx512_bf16, Issue::dot_bf16_512,
                                   DType::bf16, DType::fp32, Recurrence::dot_bf16, 16, "vdpbf16ps",
                                   2 * 32, 64, "zmm", "clock_dot_avx512_bf16", dot_avx512_bf16);

constexpr Kernel rows[] = {
    avx2_int8,
    avx512_int8,
    avx512_bf16,
    clock_row(avx2_int8, 24, 18, clock_dot_avx2_int8),
    clock_row(avx512_int8, 30, 18, clock_dot_avx512_int8),
    clock_row(avx512_bf16, 30, 18, clock_dot_avx512_bf16),
};

}  // namespace

std::span<const Kernel> compute_dot() { return rows; }

}  // namespace ridgeline::cpu::x86
