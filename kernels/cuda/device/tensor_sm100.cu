// Tensor cores of sm_100, sm_103 and sm_110 by tcgen05, built for their families (sm_100f,
// sm_110f). Needs CUDA 13.
#include "kernels/cuda/device/tcgen05.cuh"

namespace ridgeline::cuda {

namespace tcgen05 {
RIDGELINE_TCGEN05_STEP(Tcgen05Fp16, "kind::f16")
RIDGELINE_TCGEN05_STEP(Tcgen05Fp16Fp16, "kind::f16")
RIDGELINE_TCGEN05_STEP(Tcgen05Bf16, "kind::f16")
RIDGELINE_TCGEN05_STEP(Tcgen05Tf32, "kind::tf32")
RIDGELINE_TCGEN05_STEP(Tcgen05Fp8, "kind::f8f6f4")
RIDGELINE_TCGEN05_STEP(Tcgen05Fp8Fp16, "kind::f8f6f4")
RIDGELINE_TCGEN05_SCALED_STEP(Tcgen05MxFp8, "kind::mxf8f6f4.block_scale.block32")
RIDGELINE_TCGEN05_SCALED_STEP(Tcgen05MxFp4, "kind::mxf4.block_scale.block32")
RIDGELINE_TCGEN05_SCALED_STEP(Tcgen05NvFp4, "kind::mxf4nvf4.block_scale.block16")
}  // namespace tcgen05

#define RIDGELINE_TCGEN05(name, Arithmetic, chains, rounds, first, last) \
  RIDGELINE_TCGEN05_GLOBAL name(Arguments arguments) {                   \
    tcgen05::run<Arithmetic, chains, rounds>(arguments);                 \
  }
#include "kernels/cuda/tensor_sm100.inc"
#undef RIDGELINE_TCGEN05

#define RIDGELINE_TCGEN05(name, ...) {#name, reinterpret_cast<const void*>(name)},
extern const Function tensor_sm100_functions[];  // a constant would be this file's alone
const Function tensor_sm100_functions[] = {
#include "kernels/cuda/tensor_sm100.inc"
    {nullptr, nullptr}};

}  // namespace ridgeline::cuda
