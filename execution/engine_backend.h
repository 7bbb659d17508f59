// TensorRT engines executed by libnvinfer on the GPU. This header includes none of NVIDIA's; the
// sources that do are in execution/tensorrt, and a build without them refuses.
#pragma once

#include <memory>
#include <string>

#include "analyzer/tensorrt/engine_file.h"
#include "execution/executable.h"

namespace ridgeline {

struct EngineRunOptions {
  std::string library = {};           // of libnvinfer; empty: the one that ridgeline was built for
  std::string driver = {};            // of CUDA; empty: the system's
  tensorrt::InputShapes shapes = {};  // of free inputs; otherwise those of the profile's optimum
  int profile = 0;                    // optimisation profile
};

// RIDGELINE_NVINFER_LIBRARY and RIDGELINE_CUDA_DRIVER name other libraries.
EngineRunOptions engine_run_options_here();

// Of the engine's layers only those that the first recorded step reported are known.
class EngineExecutable : public Executable {
 public:
  virtual std::string gpu_bus_id() const = 0;  // "0000:01:00.0"; empty if the driver has none
};

// The engine in GPU memory with its inputs filled; one step is one inference, without copies from
// and to the host. An Error says in one line what is missing here, or which version or GPU the
// engine was built for.
std::unique_ptr<EngineExecutable> engine_executable(const std::string& path,
                                                    const EngineRunOptions& options);

// Empty if engines can be executed as far as can be said without touching the GPU; else why not.
std::string why_no_engine_runs(const EngineRunOptions& options);

}  // namespace ridgeline
