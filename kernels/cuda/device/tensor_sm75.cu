// Tensor cores of sm_75, whose mma.sync has small shapes only.
// From sm_80 on the shapes of tensor_sm80.cu are faster.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp16K8, std::uint32_t,
              RIDGELINE_MMA_214("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"))
RIDGELINE_MMA(MmaFp16Fp16K8, std::uint32_t,
              RIDGELINE_MMA_212("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"))
RIDGELINE_MMA(MmaInt8K16, std::uint32_t,
              RIDGELINE_MMA_112("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "r"))
RIDGELINE_MMA(MmaInt4K32, std::uint32_t,
              RIDGELINE_MMA_112("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", "r"))

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_sm75.inc"
#define RIDGELINE_FUNCTIONS tensor_sm75_functions
#include "kernels/cuda/device/tensor.cuh"
