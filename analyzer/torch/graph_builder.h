// GraphBuilder: turns calls of ATen operators into the layers of a Graph. Rules decide the work;
// the builder decides what is folded, what is a parameter and how layers are called.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/torch/call.h"

namespace ridgeline::pytorch {

class GraphBuilder {
 public:
  // Tensors have their shape, type, role and name. `contiguous`: see TensorFacts.
  TensorId add_tensor(Tensor tensor, bool contiguous = true);
  // A stored weight: a parameter that training changes, or a buffer or constant.
  TensorId add_weight(Tensor tensor, bool trainable);
  TensorId add_input(Tensor tensor);

  // Applies the operator's rule and adds its layer. An unknown operator becomes Unknown. Returns
  // the layer; no_index if the rule skips the call.
  std::size_t add_call(const CallSite& site);

  const Graph& graph() const { return graph_; }
  std::span<const TensorFacts> facts() const { return facts_; }

  // For branches: layers since `first` are marked as not taken, or compared by their FLOP.
  std::size_t layer_count() const { return graph_.layers.size(); }
  void mark_alternative(std::size_t first, std::size_t last);
  double flop_of_layers(std::size_t first, std::size_t last) const;
  // The tensors made by a folded or skipped node that no rule sees.
  void set_from_shapes(TensorId id) { facts_[id].from_shapes = true; }

  Graph finish(std::string name, std::vector<TensorId> outputs);

 private:
  void settle_outputs(const Call& call, Layer& layer, const std::vector<TensorId>& inputs);
  void mark_parameters(const Layer& layer);
  std::string layer_name(const CallSite& site, const Layer& layer);
  std::size_t scope_of(std::string_view module);

  Graph graph_;
  std::vector<TensorFacts> facts_;  // per tensor
  std::unordered_map<std::string, int> names_;
  std::map<std::string, std::size_t, std::less<>> scopes_;
};

}  // namespace ridgeline::pytorch
