// One row per operator that has weights among its inputs.
// Products of two activations look the same as those with weights: there the rank decides.
#include "analyzer/onnx/weight_inputs.h"

#include <algorithm>

#include "analyzer/onnx/name_map.h"

namespace ridgeline::onnx {
namespace {

struct WeightPlaces {
  std::string_view op;
  std::size_t first, last;  // inputs
};

constexpr WeightPlaces places[] = {
    {"Conv", 1, 2},
    {"ConvTranspose", 1, 2},
    {"ConvInteger", 1, 1},
    {"QLinearConv", 3, 3},
    {"Gemm", 1, 2},
    {"BatchNormalization", 1, 4},
    {"InstanceNormalization", 1, 2},
    {"LayerNormalization", 1, 2},
    {"GroupNormalization", 1, 2},
    {"RMSNormalization", 1, 1},
    {"PRelu", 1, 1},
    {"LSTM", 1, 3},
    {"GRU", 1, 3},
    {"RNN", 1, 3},
};

bool is_weight_place(const Node& node, std::size_t input) {
  return node.domain.empty() &&
         std::any_of(std::begin(places), std::end(places), [&](const WeightPlaces& row) {
           return row.op == node.op_type && input >= row.first && input <= row.last;
         });
}

// A matrix behind a MatMul is the same for the whole batch.
bool is_second_matrix(const Node& node, std::size_t input, const ValueInfo& info) {
  return node.domain.empty() && node.op_type == "MatMul" && input == 1 && info.type.dims &&
         info.type.dims->size() == 2;
}

}  // namespace

std::set<std::string_view> weight_inputs(const GraphProto& graph) {
  NameMap<const ValueInfo*> inputs(graph.inputs.size());
  for (const ValueInfo& info : graph.inputs) inputs.set(info.name, &info);
  std::set<std::string_view> weights, activations;
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (const auto* info = inputs.find(node.inputs[i]))
        (is_weight_place(node, i) || is_second_matrix(node, i, **info) ? weights : activations)
            .insert(node.inputs[i]);
  for (const std::string_view name : activations) weights.erase(name);
  return weights;
}

}  // namespace ridgeline::onnx
