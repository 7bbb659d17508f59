// Tensor cores of sm_72, in the shapes of the first of them; INT8 by wmma alone.
// CUDA 13 has no sm_72 any more: for older toolkits.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp16K4, std::uint32_t,
              RIDGELINE_MMA_228("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"))
RIDGELINE_MMA(MmaFp16Fp16K4, std::uint32_t,
              RIDGELINE_MMA_224("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"))
RIDGELINE_MMA(WmmaInt8, std::uint32_t,
              RIDGELINE_MMA_228("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32"))

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_sm72.inc"
#define RIDGELINE_FUNCTIONS tensor_sm72_functions
#include "kernels/cuda/device/tensor.cuh"
