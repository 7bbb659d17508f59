// The archive is checked before LibTorch reads it.
#include "analyzer/torch/script.h"

#include <algorithm>
#include <memory>

#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/program_walk.h"
#include "analyzer/torch/symbol_sizes.h"
#include "base/error.h"
#include "base/torch_module.h"

namespace ridgeline::pytorch {
namespace {

// The run had the sizes that the user gave; those of weights are the file's.
void mark_given_sizes(Graph& graph) {
  for (Tensor& tensor : graph.tensors)
    if (tensor.role != Role::weight) tensor.source = ShapeSource::given;
  for (Layer& layer : graph.layers)
    for (const TensorId id : layer.outputs)
      layer.shapes = std::max(layer.shapes, graph.tensors[id].source);
}

}  // namespace

ScriptImport import_script(const std::string& path, const ReadOptions& options) {
  check_script_archive(path);
  if (const std::string why = why_no_torch(); !why.empty())
    throw Error(path, "is TorchScript, which only LibTorch can read, and " + why,
                "install libtorch-dev and build again, or save it with torch.export.save");
  if (!options.dims.empty() || options.assumed_dim)
    throw usage_error(options.dims.empty() ? "--assume-dim" : "--dim",
                      "the sizes of TorchScript have no names", "give --shape INPUT=1x3x224x224");
  if (!options.trips.empty() || options.branch != Branch::larger)
    throw usage_error(options.trips.empty() ? "--branch" : "--trips",
                      "TorchScript is run once, and what runs is counted", "leave it out");
  const auto trace = reinterpret_cast<TraceScript*>(torch_symbol(trace_script_name));
  const std::unique_ptr<TracedScript> traced(trace(path, options));
  ScriptImport result;
  const ReadOptions plain;  // every size is a number by now
  SymbolSizes sizes(traced->program, plain, path);
  result.import.producer = "TorchScript, run by LibTorch " + traced->program.torch_version;
  result.import.batch = traced->batch;
  result.import.graph = walk_program(traced->program, sizes, plain, path, result.import.warnings,
                                     &result.call_layers);
  mark_given_sizes(result.import.graph);
  if (options.absorb_quantization) absorb_quantization(result.import.graph);
  return result;
}

}  // namespace ridgeline::pytorch
