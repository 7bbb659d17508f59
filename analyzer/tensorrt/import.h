// From layer information or an engine file of TensorRT to the kernels of a network: reads the
// engine, chooses the optimisation profile, joins the ONNX file and the measured times that the
// user gave. What other code needs of this folder's types is in engine.h, kernels.h and times.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

struct Import {
  ChosenKernels kernels;
  std::string producer;               // "TensorRT 10.16.1"
  std::optional<std::int64_t> batch;  // dimension 0 of the first input
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> options;  // that were chosen
};

// Reads layer information, a log that holds it, or an engine file; the latter is run here, if
// trtexec is installed, and then has times without being given any.
Import import_engine(const std::string& path, const ReadOptions& options);

// The layers as the file lists them beside their kernels, for what looks at both: its sizes are
// numbers, and kernels.graph has one layer for each of its layers.
struct LoadedEngine {
  Engine engine;
  Import import;
};
LoadedEngine load_engine(const std::string& path, const ReadOptions& options);
LoadedEngine load_engine(Engine engine, const ReadOptions& options);

}  // namespace ridgeline::tensorrt
