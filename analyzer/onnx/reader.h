// Parses the bytes of an ONNX file into a Model. Internal to model_file.cpp; use ModelFile
// elsewhere.
#pragma once

#include "analyzer/onnx/model.h"
#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

Model read_model(const WireSource& source);

// For a file that could not be read: throws an Error that names its format, if it is one of those
// often given instead of ONNX, and how to make ONNX of it.
void explain_other_format(const WireSource& source);

}  // namespace ridgeline::onnx
