// FP8 on tensor cores: sm_89 and sm_12x; sm_90 to sm_110 emulate this form of it.
// Needs CUDA 12.4.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp8, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"))
RIDGELINE_MMA(MmaFp8Fp16, std::uint32_t,
              RIDGELINE_MMA_422("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16"))
RIDGELINE_MMA(SparseFp8, std::uint32_t, RIDGELINE_SPARSE_444("m16n8k64.row.col.f32.e4m3.e4m3.f32"))

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_fp8.inc"
#define RIDGELINE_FUNCTIONS tensor_fp8_functions
#include "kernels/cuda/device/tensor.cuh"
