// Finds the functions of the module by name.
#include "execution/torch_backend.h"

#include "analyzer/torch/script.h"
#include "base/torch_module.h"
#include "execution/torch/module.h"

namespace ridgeline {

std::unique_ptr<Executable> torch_executable(const Graph& graph, const ExecutionOptions& options) {
  const auto build =
      reinterpret_cast<torch_module::BuildGraph*>(torch_symbol(torch_module::build_graph_name));
  return std::unique_ptr<Executable>(build(graph, options));
}

std::unique_ptr<Executable> script_executable(const std::string& path, const ReadOptions& reading,
                                              int threads) {
  const pytorch::ScriptImport script = pytorch::import_script(path, reading);
  ScriptLayers layers;
  layers.of_calls = script.call_layers;
  for (const Layer& layer : script.import.graph.layers) layers.names.push_back(layer.name);
  const auto build =
      reinterpret_cast<torch_module::BuildScript*>(torch_symbol(torch_module::build_script_name));
  return std::unique_ptr<Executable>(build(path, reading, layers, threads));
}

}  // namespace ridgeline
