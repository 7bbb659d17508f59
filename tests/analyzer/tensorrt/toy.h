// The toy engine of tests/data/tensorrt, engine files, and the form that TensorRT 11 would give an
// engine's file.
#pragma once

#include <string>

#include "analyzer/tensorrt/engine.h"

namespace ridgeline::testing {

std::string toy_text();

// An engine file: 28 bytes as TensorRT 8.6 and later write them, with the version that built it,
// and what follows, which only TensorRT reads.
std::string engine_bytes(const std::string& content, const char* version = "\x0a\x03\0\x1a");

tensorrt::Engine toy_engine();

// The ONNX file that the toy engine would have been built from; `suffix` changes the names of its
// nodes. Its batch is free.
std::string toy_onnx(const std::string& suffix = "");

// Rewrites layer information of TensorRT 10 by NVIDIA's migration guide from 10.x to 11.x, page
// IEngineInspector: Bindings become I/O Tensors, Format/Datatype becomes Format and Datatype. No
// file of TensorRT 11 has been seen.
std::string as_eleven(const std::string& ten);

}  // namespace ridgeline::testing
