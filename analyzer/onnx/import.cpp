// The door of the ONNX front end: one walk, then quantisation steps are absorbed.
// All the work is behind it.
#include "analyzer/onnx/import.h"

#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/onnx/walk.h"

namespace ridgeline::onnx {

Import import_graph(const ModelFile& file, const ImportOptions& options) {
  Import result = Walk(file, options).run();
  if (options.absorb_quantization) absorb_quantization(result.graph);
  return result;
}

}  // namespace ridgeline::onnx
