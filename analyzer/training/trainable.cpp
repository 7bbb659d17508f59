// What learns is a parameter of floating point that is not frozen; the rest follows along the
// graph.
#include "analyzer/training/trainable.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

bool can_learn(const Tensor& tensor) { return tensor.is_parameter && is_floating(tensor.type); }

// Gradients of integers do not exist: such a network was quantised after its training.
void refuse_integer_products(const Graph& graph) {
  for (const Layer& layer : graph.layers)
    for (const TensorId id : layer.inputs)
      if (graph.tensors[id].is_parameter && !is_floating(graph.tensors[id].type) &&
          std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
            return std::holds_alternative<Convolution>(part.op) ||
                   std::holds_alternative<MatMul>(part.op);
          }))
        throw Error("--train", fmt::format("layer {} has weights of {}, which cannot learn",
                                           quote(layer.name), to_string(graph.tensors[id].type)));
}

// A parameter that is transposed or reshaped before the first run is that parameter: layers read it
// itself, so that it learns.
void read_parameters_themselves(Graph& graph) {
  std::unordered_map<TensorId, TensorId> itself;
  const auto find = [&](TensorId id) {
    const auto found = itself.find(id);
    return found == itself.end() ? id : found->second;
  };
  for (Layer& layer : graph.layers) {
    if (layer.standing != Standing::folded) {
      for (TensorId& id : layer.inputs) id = find(id);
      continue;
    }
    if (layer.inputs.empty() || layer.outputs.size() != 1) continue;
    const TensorId from = find(layer.inputs.front());
    if (graph.tensors[from].is_parameter &&
        graph.tensors[from].type == graph.tensors[layer.outputs[0]].type &&
        element_count(graph.tensors[from].shape) ==
            element_count(graph.tensors[layer.outputs[0]].shape) &&
        std::all_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
          return std::holds_alternative<View>(part.op) || std::holds_alternative<Copy>(part.op);
        }))
      itself[layer.outputs[0]] = from;
  }
}

// A layer's name, or the name of the module that it is the last layer of.
void freeze(TrainingStep& step, const std::string& until) {
  std::size_t last = step.graph.layers.size();
  for (std::size_t i = 0; i < step.graph.layers.size(); ++i) {
    const std::string& name = step.graph.layers[i].name;
    if (name == until || name.starts_with(until + ".") || name.starts_with(until + "/")) last = i;
  }
  if (last == step.graph.layers.size())
    throw usage_error("--freeze-until " + until, "no layer has this name");
  for (std::size_t i = 0; i <= last; ++i)
    for (const TensorId id : step.graph.layers[i].inputs) step.learns[id] = false;
}

// Normalisations that learn compute their statistics; frozen ones run as at inference.
void take_statistics(TrainingStep& step) {
  for (Layer& layer : step.graph.layers)
    for (Part& part : layer.parts)
      if (auto* normalize = std::get_if<Normalize>(&part.op))
        normalize->training = std::any_of(layer.inputs.begin(), layer.inputs.end(),
                                          [&](TensorId id) { return step.learns[id]; });
}

// A gradient is wanted of everything that depends on a parameter which learns.
void find_wanted(TrainingStep& step) {
  step.wanted.assign(step.graph.tensors.size(), false);
  for (const Layer& layer : step.graph.layers) {
    if (!runs(layer)) continue;
    const bool depends = std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
      return step.learns[id] || step.wanted[id];
    });
    for (const TensorId id : layer.outputs)
      step.wanted[id] = depends && is_floating(step.graph.tensors[id].type);
  }
}

}  // namespace

void choose_learning(TrainingStep& step, const std::string& freeze_until) {
  read_parameters_themselves(step.graph);
  step.learns.assign(step.graph.tensors.size(), false);
  for (TensorId id = 0; id < step.graph.tensors.size(); ++id)
    step.learns[id] = can_learn(step.graph.tensors[id]);
  refuse_integer_products(step.graph);
  if (!freeze_until.empty()) freeze(step, freeze_until);
  if (std::find(step.learns.begin(), step.learns.end(), true) == step.learns.end())
    throw Error("--train",
                freeze_until.empty()
                    ? "no parameter can learn: the network has no floating-point weights"
                    : "no parameter is left to learn after --freeze-until " + quote(freeze_until));
  take_statistics(step);
  find_wanted(step);
}

}  // namespace ridgeline
