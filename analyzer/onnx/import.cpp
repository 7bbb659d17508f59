// Entry point of the ONNX front end: walks the model, then absorbs quantisation steps. At another
// batch than the file's, the walk reads constants in the way in which no batch gets lost.
#include "analyzer/onnx/import.h"

#include <initializer_list>
#include <optional>

#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/onnx/walk.h"

namespace ridgeline::onnx {

namespace {

// With the first reading that keeps the batch.
Import walked(const ModelFile& file, const ImportOptions& options) {
  std::optional<BatchLost> fault;
  for (const ReshapeReading reading :
       {ReshapeReading::as_written, ReshapeReading::batch_first, ReshapeReading::steps_first}) {
    try {
      return Walk(file, options, reading).run();
    } catch (const BatchLost& lost) {
      if (!fault) fault = lost;
    }
  }
  throw *fault;
}

}  // namespace

Import import_graph(const ModelFile& file, const ImportOptions& options) {
  Import result = walked(file, options);
  result.graph.is_export = true;
  if (options.absorb_quantization) absorb_quantization(result.graph);
  return result;
}

}  // namespace ridgeline::onnx
