// The CUDA backend of a build without CUDA: opening a GPU reports that.
// Everything else of the backend is there: table, plan, statistics, tests.
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

std::string why_no_gpu() { return "this ridgeline was built without CUDA"; }

std::unique_ptr<Gpu> open_gpu(int) {
  throw Error("no CUDA device", why_no_gpu(),
              "install the CUDA Toolkit and build again with RIDGELINE_CUDA=ON");
}

}  // namespace ridgeline::cuda
