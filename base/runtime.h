// Runtime: who executes a network. It decides fusion, launch cost and library efficiency.
// Only the words are here; what each of them decides is in analyzer/ and roofline/.
#pragma once

#include "base/tokens.h"

namespace ridgeline {

enum class Runtime {
  ideal,
  tensorrt,
  torch_eager,
  torch_eager_hooks,  // one node at a time, synchronised
  torch_compiled,
  cuda_graph,
  onnxruntime
};

template <>
struct TokenTable<Runtime> {
  static constexpr std::string_view noun = "runtime";
  static constexpr std::array<std::pair<Runtime, std::string_view>, 7> rows{
      {{Runtime::ideal, "ideal"},
       {Runtime::tensorrt, "tensorrt"},
       {Runtime::torch_eager, "torch-eager"},
       {Runtime::torch_eager_hooks, "torch-eager-hooks"},
       {Runtime::torch_compiled, "torch-compiled"},
       {Runtime::cuda_graph, "cuda-graph"},
       {Runtime::onnxruntime, "onnxruntime"}}};
};

// One operator after the other, with the host in between: even a view is a step.
constexpr bool walks_one_by_one(Runtime runtime) {
  return runtime == Runtime::torch_eager || runtime == Runtime::torch_eager_hooks;
}

}  // namespace ridgeline
