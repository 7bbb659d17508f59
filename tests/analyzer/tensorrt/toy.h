// The toy engine of tests/data/tensorrt, and the form that TensorRT 11 would give an engine's file.
#pragma once

#include <string>

#include "analyzer/tensorrt/engine.h"

namespace ridgeline::testing {

std::string toy_text();
tensorrt::Engine toy_engine();

// The ONNX file that the toy engine would have been built from; `suffix` changes the names of its
// nodes. Its batch is free.
std::string toy_onnx(const std::string& suffix = "");

// Rewrites layer information of TensorRT 10 by NVIDIA's migration guide from 10.x to 11.x, page
// IEngineInspector: Bindings become I/O Tensors, Format/Datatype becomes Format and Datatype. No
// file of TensorRT 11 has been seen.
std::string as_eleven(const std::string& ten);

}  // namespace ridgeline::testing
