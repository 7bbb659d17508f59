// Finds the functions of the module by name.
#include "execution/torch_backend.h"

#include "base/torch_module.h"
#include "execution/torch/module.h"

namespace ridgeline {

std::unique_ptr<Executable> torch_executable(const Graph& graph, const ExecutionOptions& options) {
  const auto build =
      reinterpret_cast<torch_module::BuildGraph*>(torch_symbol(torch_module::build_graph_name));
  return std::unique_ptr<Executable>(build(graph, options));
}

}  // namespace ridgeline
