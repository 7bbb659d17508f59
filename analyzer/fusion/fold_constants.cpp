// Layer by layer, in order: what a folded layer makes counts as a weight for the next.
#include "analyzer/fusion/fold_constants.h"

#include <algorithm>
#include <variant>

#include "analyzer/count/count.h"
#include "analyzer/fusion/patterns.h"

namespace ridgeline {
namespace {

bool is_constant(const Graph& graph, const Layer& layer) {
  const auto is_weight = [&](TensorId id) { return graph.tensors[id].role == Role::weight; };
  const auto stays = [](const Part& part) {
    const auto* elementwise = std::get_if<Elementwise>(&part.op);
    return is_product(part.op) || std::holds_alternative<Attention>(part.op) ||
           std::holds_alternative<Recurrent>(part.op) || std::holds_alternative<Unknown>(part.op) ||
           (elementwise != nullptr && elementwise->function == Function::random);
  };
  return takes_part(layer) && !layer.inputs.empty() &&
         std::all_of(layer.inputs.begin(), layer.inputs.end(), is_weight) &&
         std::all_of(layer.steering.begin(), layer.steering.end(), is_weight) &&
         std::none_of(layer.parts.begin(), layer.parts.end(), stays);
}

}  // namespace

bool takes_part(const Layer& layer) {
  return layer.standing == Standing::counted && !layer.parts.empty() && !layer.outputs.empty();
}

void fold_constants(Graph& graph, const OpWeights* weights, std::vector<FusionStep>* steps) {
  if (std::any_of(graph.layers.begin(), graph.layers.end(),
                  [](const Layer& layer) { return layer.pass != Pass::forward; }))
    return;
  for (Layer& layer : graph.layers) {
    const bool leaves = std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId id) {
      return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
    });
    if (leaves || !is_constant(graph, layer)) continue;
    if (steps != nullptr) {
      const Work work = count_layer(graph, layer, *weights);
      steps->push_back({"constants", layer.name, 1, total_bytes(work), total_flop(work),
                        total_integer_ops(work)});
    }
    layer.standing = Standing::folded;
    for (const TensorId id : layer.outputs) graph.tensors[id].role = Role::weight;
  }
}

}  // namespace ridgeline
