// The intensity sweep: load each element from memory and run n FMA on it, n = 0 … 256.
// Everything is unrolled, so that the innermost loop holds the loads and all the arithmetic.
#include "kernels/cpu/x86/asm.h"
#include "kernels/cpu/x86/families.h"

namespace ridgeline::cpu::x86 {
namespace {

// The arithmetic of a block outlasts the window in which a core looks ahead: without hints for the
// blocks to come, memory would idle during it (21 instead of 28 GB/s at n = 8 on a Golden Cove).
#define PREFETCH(LINES) ".irp i," LINES "\n prefetcht0 4096+64*\\i(%[p])\n.endr\n"
#define LINES_16 RIDGELINE_LIST_16
#define LINES_7 "0,1,2,3,4,5,6"
#define LINES_4 "0,1,2,3"

// x ← x·x + c with c = −1.875, n times for each vector of a block. The last block's results are
// stored at data + pitch, where a test compares them with the reference.
#define SWEEP_BODY(function, LIST, LINES, HEAD, LOAD, STEP, STORE, N, BLOCK, TAIL)   \
  RIDGELINE_STREAM_BODY(function, HEAD,                                              \
                        PREFETCH(LINES) ".irp i," LIST "\n" LOAD ".endr\n.rept " N   \
                                        "\n.irp i," LIST "\n" STEP ".endr\n.endr\n", \
                        BLOCK, "lea (%[d],%[q]), %[p]\n.irp i," LIST "\n" STORE ".endr\n" TAIL)

#define CONSTANT_FP32 "mov $0xbff00000, %%eax\n"
#define CONSTANT_FP64 "mov $0xbffe000000000000, %%rax\n"

#define AVX512_FP32(n)                                                                            \
  SWEEP_BODY(sweep_avx512_fp32_##n, RIDGELINE_LIST_16, LINES_16,                                  \
             CONSTANT_FP32 "vpbroadcastd %%eax, %%zmm31\n", "vmovaps 64*\\i(%[p]), %%zmm\\i\n",   \
             "vfmadd213ps %%zmm31, %%zmm\\i, %%zmm\\i\n", "vmovaps %%zmm\\i, 64*\\i(%[p])\n", #n, \
             "1024", "vzeroupper\n")
#define AVX512_FP64(n)                                                                            \
  SWEEP_BODY(sweep_avx512_fp64_##n, RIDGELINE_LIST_16, LINES_16,                                  \
             CONSTANT_FP64 "vpbroadcastq %%rax, %%zmm31\n", "vmovaps 64*\\i(%[p]), %%zmm\\i\n",   \
             "vfmadd213pd %%zmm31, %%zmm\\i, %%zmm\\i\n", "vmovaps %%zmm\\i, 64*\\i(%[p])\n", #n, \
             "1024", "vzeroupper\n")
#define AVX2_FP32(n)                                                                          \
  SWEEP_BODY(sweep_avx2_fp32_##n, RIDGELINE_LIST_14, LINES_7,                                 \
             CONSTANT_FP32 "vmovd %%eax, %%xmm15\n vbroadcastss %%xmm15, %%ymm15\n",          \
             "vmovaps 32*\\i(%[p]), %%ymm\\i\n", "vfmadd213ps %%ymm15, %%ymm\\i, %%ymm\\i\n", \
             "vmovaps %%ymm\\i, 32*\\i(%[p])\n", #n, "448", "vzeroupper\n")
#define AVX2_FP64(n)                                                                          \
  SWEEP_BODY(sweep_avx2_fp64_##n, RIDGELINE_LIST_14, LINES_7,                                 \
             CONSTANT_FP64 "vmovq %%rax, %%xmm15\n vbroadcastsd %%xmm15, %%ymm15\n",          \
             "vmovaps 32*\\i(%[p]), %%ymm\\i\n", "vfmadd213pd %%ymm15, %%ymm\\i, %%ymm\\i\n", \
             "vmovaps %%ymm\\i, 32*\\i(%[p])\n", #n, "448", "vzeroupper\n")
#define SSE4_FP32(n)                                                              \
  SWEEP_BODY(sweep_sse4_fp32_##n, RIDGELINE_LIST_14, LINES_4,                     \
             CONSTANT_FP32 "movd %%eax, %%xmm15\n shufps $0, %%xmm15, %%xmm15\n", \
             "movaps 16*\\i(%[p]), %%xmm\\i\n",                                   \
             "mulps %%xmm\\i, %%xmm\\i\n addps %%xmm15, %%xmm\\i\n",              \
             "movaps %%xmm\\i, 16*\\i(%[p])\n", #n, "224", "")
#define SSE4_FP64(n)                                                              \
  SWEEP_BODY(sweep_sse4_fp64_##n, RIDGELINE_LIST_14, LINES_4,                     \
             CONSTANT_FP64 "movq %%rax, %%xmm15\n shufpd $0, %%xmm15, %%xmm15\n", \
             "movaps 16*\\i(%[p]), %%xmm\\i\n",                                   \
             "mulpd %%xmm\\i, %%xmm\\i\n addpd %%xmm15, %%xmm\\i\n",              \
             "movaps %%xmm\\i, 16*\\i(%[p])\n", #n, "224", "")

// One FMA count per row of the sweep.
#define FOR_EACH_COUNT(MACRO) \
  MACRO(0) MACRO(1) MACRO(2) MACRO(4) MACRO(8) MACRO(16) MACRO(32) MACRO(64) MACRO(128) MACRO(256)

FOR_EACH_COUNT(AVX512_FP32)
FOR_EACH_COUNT(AVX512_FP64)
FOR_EACH_COUNT(AVX2_FP32)
FOR_EACH_COUNT(AVX2_FP64)
FOR_EACH_COUNT(SSE4_FP32)
FOR_EACH_COUNT(SSE4_FP64)

struct Form {  // what the rows of one instruction set have in common
  Isa isa;
  std::string_view registers;
  int register_bytes, vectors, lines, instructions_per_step;
  Recurrence recurrence;
};
constexpr Form avx512{Isa::avx512f, "zmm", 64, 16, 16, 1, Recurrence::fma};
constexpr Form avx2{Isa::avx2_fma, "ymm", 32, 14, 7, 1, Recurrence::fma};
constexpr Form sse4{Isa::sse4, "xmm", 16, 14, 4, 2, Recurrence::mul_add};

constexpr Kernel row(std::string_view name, const Form& form, DType dtype,
                     std::string_view mnemonics, int n, Body body) {
  const int lanes = form.register_bytes / (dtype == DType::fp64 ? 8 : 4);
  return {.name = name,
          .isa = form.isa,
          .role = Role::sweep,
          .dtype = dtype,
          .accumulate = dtype,
          .recurrence = form.recurrence,
          .chains = n == 0 ? 0 : form.vectors,
          .arithmetic = form.vectors * n * form.instructions_per_step,
          .mnemonics = mnemonics,
          .flop_each = 2 * lanes / form.instructions_per_step,
          .loads = form.vectors,
          .prefetches = form.lines,
          .access_bytes = form.register_bytes,
          .registers = form.registers,
          .arrays = 1,
          .fma_per_element = n,
          .body = body};
}

#define ROW_AVX512_FP32(n) \
  row("sweep_avx512_fp32_" #n, avx512, DType::fp32, "vfmadd213ps", n, sweep_avx512_fp32_##n),
#define ROW_AVX512_FP64(n) \
  row("sweep_avx512_fp64_" #n, avx512, DType::fp64, "vfmadd213pd", n, sweep_avx512_fp64_##n),
#define ROW_AVX2_FP32(n) \
  row("sweep_avx2_fp32_" #n, avx2, DType::fp32, "vfmadd213ps", n, sweep_avx2_fp32_##n),
#define ROW_AVX2_FP64(n) \
  row("sweep_avx2_fp64_" #n, avx2, DType::fp64, "vfmadd213pd", n, sweep_avx2_fp64_##n),
#define ROW_SSE4_FP32(n) \
  row("sweep_sse4_fp32_" #n, sse4, DType::fp32, "mulps|addps", n, sweep_sse4_fp32_##n),
#define ROW_SSE4_FP64(n) \
  row("sweep_sse4_fp64_" #n, sse4, DType::fp64, "mulpd|addpd", n, sweep_sse4_fp64_##n),

constexpr Kernel rows[] = {FOR_EACH_COUNT(ROW_AVX512_FP32) FOR_EACH_COUNT(ROW_AVX512_FP64)
                               FOR_EACH_COUNT(ROW_AVX2_FP32) FOR_EACH_COUNT(ROW_AVX2_FP64)
                                   FOR_EACH_COUNT(ROW_SSE4_FP32) FOR_EACH_COUNT(ROW_SSE4_FP64)};

}  // namespace

std::span<const Kernel> sweep() { return rows; }

}  // namespace ridgeline::cpu::x86
