// INT4 on tensor cores: sm_80 to sm_89; newer ones emulate it.
// Built for these alone, so that no emulation can be measured.
#include "kernels/cuda/device/machine.cuh"

namespace ridgeline::cuda {

RIDGELINE_MMA(MmaInt4, std::uint32_t,
              RIDGELINE_MMA_424("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"))

}  // namespace ridgeline::cuda

#define RIDGELINE_TABLE "kernels/cuda/tensor_int4.inc"
#define RIDGELINE_FUNCTIONS tensor_int4_functions
#include "kernels/cuda/device/tensor.cuh"
