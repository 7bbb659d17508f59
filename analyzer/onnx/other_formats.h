// Files that are often given instead of ONNX: what they are, and how to make ONNX of them. Asked
// only about a file that could not be read.
#pragma once

#include "analyzer/onnx/wire.h"

namespace ridgeline::onnx {

// Throws an Error that names the format, if it is recognised.
void explain_other_format(const WireSource& source);

}  // namespace ridgeline::onnx
