// The reader of ONNX files: bytes become a Model. Only for model_file.cpp; everything else has a
// ModelFile.
#pragma once

#include "analyzer/onnx/model.h"
#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

Model read_model(const WireSource& source);

}  // namespace ridgeline::onnx
