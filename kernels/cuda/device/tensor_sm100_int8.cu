// INT8 by tcgen05, which no family has: built for sm_100a and sm_110a alone.
// Needs CUDA 13.
#include "kernels/cuda/device/tcgen05.cuh"

namespace ridgeline::cuda {

namespace tcgen05 {
RIDGELINE_TCGEN05_STEP(Tcgen05Int8, "kind::i8")
}  // namespace tcgen05

#define RIDGELINE_TCGEN05(name, Arithmetic, chains, rounds, first, last) \
  RIDGELINE_TCGEN05_GLOBAL name(Arguments arguments) {                   \
    tcgen05::run<Arithmetic, chains, rounds>(arguments);                 \
  }
#include "kernels/cuda/tensor_sm100_int8.inc"
#undef RIDGELINE_TCGEN05

#define RIDGELINE_TCGEN05(name, ...) {#name, reinterpret_cast<const void*>(name)},
extern const Function tensor_sm100_int8_functions[];  // a constant would be this file's alone
const Function tensor_sm100_int8_functions[] = {
#include "kernels/cuda/tensor_sm100_int8.inc"
    {nullptr, nullptr}};

}  // namespace ridgeline::cuda
