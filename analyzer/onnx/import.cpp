// Entry point of the ONNX front end: walks the model, then absorbs quantisation steps.
#include "analyzer/onnx/import.h"

#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/onnx/walk.h"

namespace ridgeline::onnx {

Import import_graph(const ModelFile& file, const ImportOptions& options) {
  Import result = Walk(file, options).run();
  result.graph.is_export = true;
  if (options.absorb_quantization) absorb_quantization(result.graph);
  return result;
}

}  // namespace ridgeline::onnx
