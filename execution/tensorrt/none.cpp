// A build without TensorRT's headers: engines cannot be executed.
#include "base/error.h"
#include "execution/engine_backend.h"

namespace ridgeline {

std::string why_no_engine_runs(const EngineRunOptions&) {
  return "this ridgeline was built without TensorRT's headers";
}

std::unique_ptr<EngineExecutable> engine_executable(const std::string& path,
                                                    const EngineRunOptions& options) {
  throw Error(path, "is a TensorRT engine, and " + why_no_engine_runs(options));
}

}  // namespace ridgeline
