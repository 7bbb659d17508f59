// What needs none of NVIDIA's headers.
#include "execution/engine_backend.h"

#include <cstdlib>

namespace ridgeline {

EngineRunOptions engine_run_options_here() {
  EngineRunOptions options;
  options.library = tensorrt::engine_tools_here().library;
  if (const char* const named = std::getenv("RIDGELINE_CUDA_DRIVER")) options.driver = named;
  return options;
}

}  // namespace ridgeline
