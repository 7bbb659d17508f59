// Tensor cores from sm_80 on, dense and 2:4 sparse, and BF16 on CUDA cores.
// Every shape is the largest that all of them have in one instruction.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaFp16, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
RIDGELINE_MMA(MmaFp16Fp16, std::uint32_t,
              RIDGELINE_MMA_422("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"))
RIDGELINE_MMA(MmaBf16, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"))
RIDGELINE_MMA(MmaTf32, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"))
RIDGELINE_MMA(MmaFp64, double,
              RIDGELINE_MMA_112("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "d"))
RIDGELINE_MMA(MmaInt8, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"))
RIDGELINE_MMA(SparseFp16, std::uint32_t, RIDGELINE_SPARSE_444("m16n8k32.row.col.f32.f16.f16.f32"))
RIDGELINE_MMA(SparseBf16, std::uint32_t, RIDGELINE_SPARSE_444("m16n8k32.row.col.f32.bf16.bf16.f32"))
RIDGELINE_MMA(SparseTf32, std::uint32_t, RIDGELINE_SPARSE_444("m16n8k16.row.col.f32.tf32.tf32.f32"))
RIDGELINE_MMA(SparseInt8, std::uint32_t, RIDGELINE_SPARSE_444("m16n8k64.row.col.s32.s8.s8.s32"))

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_sm80.inc"
#define RIDGELINE_FUNCTIONS tensor_sm80_functions
#include "kernels/cuda/device/tensor.cuh"
