// Parses the bytes of an ONNX file into a Model. Internal to model_file.cpp; use ModelFile
// elsewhere.
#pragma once

#include "analyzer/onnx/model.h"
#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

Model read_model(const WireSource& source);

}  // namespace ridgeline::onnx
