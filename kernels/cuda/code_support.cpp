// Which machine code runs where: within a major architecture upwards, but not from desktop chips to
// Tegra or back (CUDA C++ Programming Guide, "Binary Compatibility").
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

bool runs_machine_code(int code, int architecture) {
  if (code == architecture) return true;
  const auto tegra = [](int number) { return number == 72 || number == 87 || number == 110; };
  return code / 10 == architecture / 10 && code < architecture && !tegra(code) &&
         !tegra(architecture);
}

}  // namespace ridgeline::cuda
