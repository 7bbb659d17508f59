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
  RIDGELINE_CLOCK_BODY(clock_dot_avx512_##name, LOAD_STATE_512, "0,1", "2,3", "4,5",            \
                       mnemonic " %%zmm30, %%zmm28, %%zmm\\i\n", "vzeroupper\n")

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

constexpr Kernel family(Isa isa, DType accumulate, Recurrence recurrence, int chains,
                        int register_bytes, std::string_view registers) {
  return {.isa = isa,
          .accumulate = accumulate,
          .recurrence = recurrence,
          .chains = chains,
          .arithmetic = chains * 4,
          .access_bytes = register_bytes,
          .registers = registers};
}

// The accumulators are wider than the operands.
constexpr Kernel row(const Kernel& common, std::string_view name, std::string_view probe,
                     Issue issue, DType dtype, std::string_view mnemonic, int flop_each,
                     Body body) {
  Kernel kernel = compute_row(common, name, probe, issue, dtype, mnemonic, flop_each, body);
  kernel.accumulate = common.accumulate;
  return kernel;
}

constexpr Kernel avx2_int8 =
    row(family(Isa::avx_vnni, DType::int32, Recurrence::dot_u8s8, 12, 32, "ymm"), "dot_avx2_int8",
        "clock_dot_avx2_int8", Issue::dot_int8_256, DType::int8, "vpdpbusd", 2 * 32, dot_avx2_int8);
constexpr Kernel avx512_int8 = row(
    family(Isa::avx512_vnni, DType::int32, Recurrence::dot_u8s8, 16, 64, "zmm"), "dot_avx512_int8",
    "clock_dot_avx512_int8", Issue::dot_int8_512, DType::int8, "vpdpbusd", 2 * 64, dot_avx512_int8);
constexpr Kernel avx512_bf16 =
    row(family(Isa::avx512_bf16, DType::fp32, Recurrence::dot_bf16, 16, 64, "zmm"),
        "dot_avx512_bf16", "clock_dot_avx512_bf16", Issue::dot_bf16_512, DType::bf16, "vdpbf16ps",
        2 * 32, dot_avx512_bf16);

constexpr Kernel rows[] = {
    avx2_int8,
    avx512_int8,
    avx512_bf16,
    clock_row(avx2_int8, 24, 18, clock_dot_avx2_int8),
    clock_row(avx512_int8, 12, 18, clock_dot_avx512_int8),
    clock_row(avx512_bf16, 12, 18, clock_dot_avx512_bf16),
};

}  // namespace

std::span<const Kernel> compute_dot() { return rows; }

}  // namespace ridgeline::cpu::x86
