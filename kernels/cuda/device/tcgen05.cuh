// The loop of the tcgen05 kernels: one thread multiplies tiles of shared memory into tensor memory,
// which the block's four warps fill before and read after it. Needs targets with the suffix a or f.
#pragma once

#include "kernels/cuda/device/entry.cuh"

namespace ridgeline::cuda {

namespace tcgen05 {

constexpr std::uint32_t threads = 128;  // a block: four warps, each with 32 of the 128 lanes
// Rows of 32 bytes: two columns of 8 × 16 bytes side by side, the next eight rows behind them.
constexpr std::uint32_t column_bytes = 128, rows_bytes = 256;
constexpr std::uint32_t left_bytes = 128 / 8 * rows_bytes, right_bytes = 256 / 8 * rows_bytes;
constexpr std::uint32_t sum_columns = 256;  // of tensor memory; scales lie behind them
// A step takes 128 cycles at the rate of GB100: at 100 MHz, with a share of a fourth of the GPU.
constexpr std::uint32_t steps_per_ms = 192, longest_start_ms = 5000;

// The shared memory descriptor of the PTX manual, without swizzling.
__device__ __forceinline__ std::uint64_t tile(std::uint32_t address) {
  return std::uint64_t{address >> 4 & 0x3fff} | std::uint64_t{column_bytes >> 4} << 16 |
         std::uint64_t{rows_bytes >> 4} << 32 | std::uint64_t{1} << 46;
}

// 128 rows in steps of 16, 256 columns in steps of 8.
template <class Arithmetic>
constexpr std::uint32_t instruction = Arithmetic::types | 256u / 8 << 17 | 128u / 16 << 24;

__device__ __forceinline__ std::uint32_t shared_address(const void* place) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
}

// Columns for one block; a block for which there are none waits until another has released its.
// PTX ISA: all threads of one warp allocate, the same warp releases before the block ends, and a
// block that allocates no more says so, or no other block of the multiprocessor can allocate.
template <int columns>
__device__ __forceinline__ void allocate(std::uint32_t* place) {
  static_assert(is_tensor_allocation<columns>, "what tcgen05.alloc takes");
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(place)),
               "n"(columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
template <int columns>
__device__ __forceinline__ void release(std::uint32_t place) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(place), "n"(columns)
               : "memory");
}

__device__ __forceinline__ void synchronize() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// Sixteen columns of a warp's lanes; of FP16 each column holds one, and a register two.
#define RIDGELINE_SIXTEEN "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
template <bool halves>
__device__ __forceinline__ void store(std::uint32_t place, const std::uint32_t (&c)[16]) {
#define RIDGELINE_STORE(shape)                                                                   \
  asm volatile("tcgen05.st.sync.aligned.32x32b." shape " [%16], " RIDGELINE_SIXTEEN              \
               ";" ::"r"(c[0]),                                                                  \
               "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]),      \
               "r"(c[8]), "r"(c[9]), "r"(c[10]), "r"(c[11]), "r"(c[12]), "r"(c[13]), "r"(c[14]), \
               "r"(c[15]), "r"(place)                                                            \
               : "memory")
  if (halves)
    RIDGELINE_STORE("x16.unpack::16b.b32");
  else
    RIDGELINE_STORE("x16.b32");
#undef RIDGELINE_STORE
}
template <bool halves>
__device__ __forceinline__ void fetch(std::uint32_t place, std::uint32_t (&c)[16]) {
#define RIDGELINE_FETCH(shape)                                                             \
  asm volatile("tcgen05.ld.sync.aligned.32x32b." shape " " RIDGELINE_SIXTEEN ", [%16];"    \
               : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3]), "=r"(c[4]), "=r"(c[5]),   \
                 "=r"(c[6]), "=r"(c[7]), "=r"(c[8]), "=r"(c[9]), "=r"(c[10]), "=r"(c[11]), \
                 "=r"(c[12]), "=r"(c[13]), "=r"(c[14]), "=r"(c[15])                        \
               : "r"(place)                                                                \
               : "memory")
  if (halves)
    RIDGELINE_FETCH("x16.pack::16b.b32");
  else
    RIDGELINE_FETCH("x16.b32");
#undef RIDGELINE_FETCH
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
#undef RIDGELINE_SIXTEEN

__device__ __forceinline__ std::uint32_t milliseconds() {  // 2²⁰ ns
  return static_cast<std::uint32_t>(nanoseconds() >> 20);
}

// Waits until the products before a commit are done. If they never are, the launch fails with an
// error instead of keeping the GPU for good.
__device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t longest_ms) {
  const std::uint32_t start_ms = milliseconds();
  std::uint32_t over = 0;
#pragma unroll 1
  for (;;) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, "
        "p; }"
        : "=r"(over)
        : "r"(barrier)
        : "memory");
    if (over != 0) return;
    if (milliseconds() - start_ms > longest_ms) asm volatile("trap;");
  }
}

// One thread of a warp, as the assembler must know it: else each step becomes a loop over the
// threads' descriptors.
__device__ __forceinline__ bool elected() {
  std::uint32_t chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }"
               : "=r"(chosen));
  return chosen != 0;
}

template <class Arithmetic>
struct Device;

#define RIDGELINE_TCGEN05_STEP(Arithmetic, text)                                         \
  template <>                                                                            \
  struct Device<Arithmetic> {                                                            \
    static __device__ __forceinline__ void step(std::uint32_t sum, std::uint64_t a,      \
                                                std::uint64_t b, std::uint32_t) {        \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; tcgen05.mma.cta_group::1." text \
                   " [%0], %1, %2, %3, p; }" ::"r"(sum),                                 \
                   "l"(a), "l"(b), "r"(instruction<Arithmetic>)                          \
                   : "memory");                                                          \
    }                                                                                    \
  };
// One place serves for the scales of both operands: all are ones.
#define RIDGELINE_TCGEN05_SCALED_STEP(Arithmetic, text)                                  \
  template <>                                                                            \
  struct Device<Arithmetic> {                                                            \
    static __device__ __forceinline__ void step(std::uint32_t sum, std::uint64_t a,      \
                                                std::uint64_t b, std::uint32_t scales) { \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; tcgen05.mma.cta_group::1." text \
                   " [%0], %1, %2, %3, [%4], [%4], p; }" ::"r"(sum),                     \
                   "l"(a), "l"(b), "r"(instruction<Arithmetic>), "r"(scales)             \
                   : "memory");                                                          \
    }                                                                                    \
  };

// All elements of an operand are equal, so that results need no layout.
template <class Arithmetic, int chains, int rounds>
__device__ __forceinline__ void run(const Arguments& arguments) {
  static_assert(chains == 1, "a second chain would need all of tensor memory");
  constexpr int count = Arithmetic::c;
  constexpr bool halves = Arithmetic::accumulate == DType::fp16;
  __shared__ alignas(1024) std::uint32_t tiles[2 * (left_bytes + right_bytes) / 4];
  __shared__ std::uint64_t done;
  __shared__ std::uint32_t memory;
  const Registers<std::uint32_t, 4 + count> registers(arguments);
  const std::uint32_t operands[4] = {registers[0], registers[1], registers[2], registers[3]};
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < sizeof tiles / 4; i += threads)
    tiles[i] = i < left_bytes / 4                       ? operands[0]
               : i < 2 * left_bytes / 4                 ? operands[1]
               : i < (2 * left_bytes + right_bytes) / 4 ? operands[2]
                                                        : operands[3];
  const std::uint32_t warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (warp == 0) allocate<Arithmetic::allocated>(&memory);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  synchronize();
  const std::uint32_t sum = memory, own = sum + (warp << 21);  // lanes are counted in bits 16 to 31
  const std::uint32_t scales = sum + sum_columns;
  if (Arithmetic::scales != 0) {
    // Four scales in each lane of a column, and more columns than either operand wants.
    std::uint32_t ones[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) ones[k] = Arithmetic::scales;
    store<false>(own + sum_columns, ones);
  }
#pragma unroll
  for (int i = 0; i < count; i += 16) {
    std::uint32_t c[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) c[k] = registers[4 + i + k];
    store<halves>(own + (halves ? 2 * i : i), c);
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  synchronize();
  const std::uint32_t at = shared_address(tiles);
  const std::uint64_t a[2] = {tile(at), tile(at + left_bytes)};
  const std::uint64_t b[2] = {tile(at + 2 * left_bytes), tile(at + 2 * left_bytes + right_bytes)};
  const Begin begun = begin();
  if (warp == 0 && elected()) {
#pragma unroll 1
    for (std::uint32_t trip = arguments.trips; trip != 0; --trip) {
#pragma unroll
      for (int round = 0; round < rounds; ++round)
        Device<Arithmetic>::step(sum, a[round % 2], b[round % 2], scales);
    }
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            shared_address(&done))
        : "memory");
  }
  wait(shared_address(&done), longest_start_ms + arguments.trips / (steps_per_ms / rounds));
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#pragma unroll
  for (int i = 0; i < count; i += 16) {
    std::uint32_t c[16];
    fetch<halves>(own + (halves ? 2 * i : i), c);
#pragma unroll
    for (int k = 0; k < 16; ++k) registers[4 + i + k] = c[k];
  }
  synchronize();
  if (warp == 0) release<Arithmetic::allocated>(sum);
  end(arguments, begun);
}

}  // namespace tcgen05

}  // namespace ridgeline::cuda

#define RIDGELINE_TCGEN05_GLOBAL \
  extern "C" __global__ void __launch_bounds__(::ridgeline::cuda::tcgen05::threads)
