// PTX ISA, "Asynchronous warpgroup level matrix instructions" (sm_90a) and "tcgen05" (sm_100a,
// sm_103a, sm_110a). Which type tcgen05.mma takes was tried with ptxas of CUDA 13.0.
#include "kernels/cuda/full_rate.h"

namespace ridgeline::cuda {

std::string_view full_rate_instruction(const Kernel& kernel, int architecture) {
  if (kernel.role != Role::compute || kernel.unit != Unit::matrix) return {};
  switch (kernel.dtype) {
    case DType::fp16:
    case DType::bf16:
    case DType::tf32:
    case DType::fp8:
      break;
    case DType::int8:
      if (architecture == 103) return {};  // ptxas: ".kind::i8 not supported"
      break;
    default:
      return {};  // FP64 and INT4 are mma.sync's alone
  }
  if (architecture >= 90 && architecture < 100) return "wgmma";
  if (architecture >= 100 && architecture < 120) return "tcgen05";
  return {};
}

}  // namespace ridgeline::cuda
