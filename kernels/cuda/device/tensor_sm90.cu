// Tensor cores of sm_90, built for sm_90a alone: wgmma, and FP64 in the shape that has the full
// rate. Needs CUDA 12.
#include "kernels/cuda/device/entry.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp64K16, double,
              asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                           "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
                           "{%0, %1, %2, %3};"
                           : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                           : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]),
                             "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3])))

// Accumulators of one instruction, as text and as operands.
#define RIDGELINE_TEXT_64                                                        \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, " \
  "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "  \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "  \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "  \
  "%62, %63}"
#define RIDGELINE_OPERANDS_64                                                                     \
  "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), \
      "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]),    \
      "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]),  \
      "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]),  \
      "+r"(c[29]), "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]),  \
      "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]), "+r"(c[42]),  \
      "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]), "+r"(c[48]), "+r"(c[49]),  \
      "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]), "+r"(c[55]), "+r"(c[56]),  \
      "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63])
#define RIDGELINE_TEXT_32                                                        \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, " \
  "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
#define RIDGELINE_OPERANDS_32                                                                     \
  "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), \
      "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]),    \
      "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]),  \
      "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]),  \
      "+r"(c[29]), "+r"(c[30]), "+r"(c[31])

template <class Arithmetic>
struct DeviceWgmma;

// `rest` is what the manual has behind the descriptors: accumulate, signs, and for 16-bit types
// that neither operand is transposed.
#define RIDGELINE_WGMMA_STEP(Arithmetic, count, a_place, b_place, text, rest)               \
  template <>                                                                               \
  struct DeviceWgmma<Arithmetic> {                                                          \
    static __device__ __forceinline__ void step(std::uint32_t (&c)[count], std::uint64_t a, \
                                                std::uint64_t b) {                          \
      asm volatile("wgmma.mma_async.sync.aligned." text " " RIDGELINE_TEXT_##count          \
                   ", %" a_place ", %" b_place ", " rest ";"                                \
                   : RIDGELINE_OPERANDS_##count                                             \
                   : "l"(a), "l"(b));                                                       \
    }                                                                                       \
  };
RIDGELINE_WGMMA_STEP(WgmmaFp16, 64, "64", "65", "m64n128k16.f32.f16.f16", "1, 1, 1, 0, 0")
RIDGELINE_WGMMA_STEP(WgmmaFp16Fp16, 32, "32", "33", "m64n128k16.f16.f16.f16", "1, 1, 1, 0, 0")
RIDGELINE_WGMMA_STEP(WgmmaBf16, 64, "64", "65", "m64n128k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
RIDGELINE_WGMMA_STEP(WgmmaTf32, 64, "64", "65", "m64n128k8.f32.tf32.tf32", "1, 1, 1")
RIDGELINE_WGMMA_STEP(WgmmaFp8, 64, "64", "65", "m64n128k32.f32.e4m3.e4m3", "1, 1, 1")
RIDGELINE_WGMMA_STEP(WgmmaFp8Fp16, 32, "32", "33", "m64n128k32.f16.e4m3.e4m3", "1, 1, 1")
RIDGELINE_WGMMA_STEP(WgmmaInt8, 64, "64", "65", "m64n128k32.s32.s8.s8", "1")

// Rows of 32 bytes: two columns of 8 × 16 bytes side by side, the next eight rows behind them.
constexpr std::uint32_t column_bytes = 128, rows_bytes = 256;
constexpr std::uint32_t left_bytes = 64 / 8 * rows_bytes, right_bytes = 128 / 8 * rows_bytes;

// The matrix descriptor of the PTX manual, without swizzling.
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address) {
  return std::uint64_t{address >> 4 & 0x3fff} | std::uint64_t{column_bytes >> 4} << 16 |
         std::uint64_t{rows_bytes >> 4} << 32;
}

// All elements of an operand are equal, so that results need no layout. Groups of instructions
// overlap: one trip is under way while the next one starts.
template <class Arithmetic, int chains, int rounds>
__device__ __forceinline__ void run_wgmma(const Arguments& arguments) {
  static_assert(chains == 1, "registers of a second chain would be copied in the loop");
  constexpr int count = Arithmetic::c;
  __shared__ alignas(1024) std::uint32_t tiles[2 * (left_bytes + right_bytes) / 4];
  const Registers<std::uint32_t, 4 + count> registers(arguments);
  const std::uint32_t operands[4] = {registers[0], registers[1], registers[2], registers[3]};
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < sizeof tiles / 4; i += blockDim.x)
    tiles[i] = i < left_bytes / 4                       ? operands[0]
               : i < 2 * left_bytes / 4                 ? operands[1]
               : i < (2 * left_bytes + right_bytes) / 4 ? operands[2]
                                                        : operands[3];
  std::uint32_t c[count];
#pragma unroll
  for (int i = 0; i < count; ++i) c[i] = registers[4 + i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(tiles));
  const std::uint64_t a[2] = {descriptor(at), descriptor(at + left_bytes)};
  const std::uint64_t b[2] = {descriptor(at + 2 * left_bytes),
                              descriptor(at + 2 * left_bytes + right_bytes)};
  const Begin begun = begin();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll 1
  for (std::uint32_t trip = arguments.trips; trip != 0; --trip) {
#pragma unroll
    for (int round = 0; round < rounds; ++round)
      DeviceWgmma<Arithmetic>::step(c, a[round % 2], b[round % 2]);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < count; ++i) registers[4 + i] = c[i];
  end(arguments, begun);
}

#define RIDGELINE_TENSOR(name, Arithmetic, chains, rounds, first, last) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_mma<Arithmetic, chains, rounds>(arguments); }
#define RIDGELINE_WGMMA(name, Arithmetic, chains, rounds, first, last) \
  RIDGELINE_GLOBAL name(Arguments arguments) { run_wgmma<Arithmetic, chains, rounds>(arguments); }
#include "kernels/cuda/tensor_sm90.inc"
#undef RIDGELINE_TENSOR
#undef RIDGELINE_WGMMA

#define RIDGELINE_TENSOR(name, ...) {#name, reinterpret_cast<const void*>(name)},
#define RIDGELINE_WGMMA RIDGELINE_TENSOR
extern const Function tensor_sm90_functions[];  // a constant would be this file's alone
const Function tensor_sm90_functions[] = {
#include "kernels/cuda/tensor_sm90.inc"
    {nullptr, nullptr}};

}  // namespace ridgeline::cuda
