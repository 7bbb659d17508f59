// Floats with block scales on tensor cores, built for the family sm_120f, which sm_121 is in.
// Needs CUDA 13.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

#define RIDGELINE_SCALED_424(text, ones)                                                          \
  asm volatile("mma.sync.aligned." text                                                           \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, " \
               "{%10}, {0, 0};"                                                                   \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(ones))

RIDGELINE_MMA(
    MmaMxFp8, std::uint32_t,
    RIDGELINE_SCALED_424(
        "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0",
        mx_ones))
RIDGELINE_MMA(MmaMxFp4, std::uint32_t,
              RIDGELINE_SCALED_424(
                  "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
                  mx_ones))
RIDGELINE_MMA(
    MmaNvFp4, std::uint32_t,
    RIDGELINE_SCALED_424(
        "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
        nv_ones))
#undef RIDGELINE_SCALED_424

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_sm120.inc"
#define RIDGELINE_FUNCTIONS tensor_sm120_functions
#include "kernels/cuda/device/tensor.cuh"
