// Builds a training step from a forward graph: selects trainable parameters, then adds the passes.
// Gradients are in backward.cpp.
#include "analyzer/training/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "analyzer/graph/autocast.h"
#include "analyzer/training/backward.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

// --- Trainable parameters: floating-point and not frozen. Which tensors need a gradient follows
// from the graph.

bool can_learn(const Tensor& tensor) { return tensor.is_parameter && is_floating(tensor.type); }

// Integers have no gradient: such a network was quantised after training.
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

// A parameter that is transposed or reshaped before the first run stays the same parameter: layers
// are made to read the original, so that it can be trained.
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

// `until` is the name of a layer, or of a module, which is frozen to its last layer.
void freeze(TrainingGraph& step, const std::string& until) {
  std::size_t last = step.graph.layers.size();
  for (std::size_t i = 0; i < step.graph.layers.size(); ++i) {
    const std::string& name = step.graph.layers[i].name;
    if (name == until || name.starts_with(until + ".") || name.starts_with(until + "/")) last = i;
  }
  if (last == step.graph.layers.size())
    throw usage_error("--freeze-until " + until, "no layer has this name");
  for (std::size_t i = 0; i <= last; ++i)
    for (const TensorId id : step.graph.layers[i].inputs) step.trainable[id] = false;
}

// Trainable normalisations compute batch statistics; frozen ones run as at inference.
void take_statistics(TrainingGraph& step) {
  for (Layer& layer : step.graph.layers)
    for (Part& part : layer.parts)
      if (auto* normalize = std::get_if<Normalize>(&part.op))
        normalize->training = std::any_of(layer.inputs.begin(), layer.inputs.end(),
                                          [&](TensorId id) { return step.trainable[id]; });
}

// Everything that depends on a trainable parameter needs a gradient.
void find_wanted(TrainingGraph& step) {
  step.wanted.assign(step.graph.tensors.size(), false);
  for (const Layer& layer : step.graph.layers) {
    if (!runs(layer)) continue;
    const bool depends = std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
      return step.trainable[id] || step.wanted[id];
    });
    for (const TensorId id : layer.outputs)
      step.wanted[id] = depends && is_floating(step.graph.tensors[id].type);
  }
}

// Layers up to `freeze_until` are frozen; none if it is empty.
void choose_trainable(TrainingGraph& step, const std::string& freeze_until) {
  read_parameters_themselves(step.graph);
  step.trainable.assign(step.graph.tensors.size(), false);
  for (TensorId id = 0; id < step.graph.tensors.size(); ++id)
    step.trainable[id] = can_learn(step.graph.tensors[id]);
  refuse_integer_products(step.graph);
  if (!freeze_until.empty()) freeze(step, freeze_until);
  if (std::find(step.trainable.begin(), step.trainable.end(), true) == step.trainable.end())
    throw Error("--train",
                freeze_until.empty()
                    ? "no parameter can learn: the network has no floating-point weights"
                    : "no parameter is left to learn after --freeze-until " + quote(freeze_until));
  take_statistics(step);
  find_wanted(step);
}

// --- Precision and optimiser

TrainingGraph begin(const Graph& forward) {
  TrainingGraph step;
  step.graph = forward;
  for (const Tensor& tensor : step.graph.tensors)
    step.holdings.push_back(tensor.role != Role::weight ? Holding::activation
                            : tensor.is_parameter       ? Holding::weight
                                                        : Holding::constant);
  return step;
}

// fp32 weights and activations become fp16; the optimiser keeps fp32 copies.
void lower_precision(Graph& graph) {
  for (Tensor& tensor : graph.tensors)
    if (tensor.type == ElementType::fp32) tensor.type = ElementType::fp16;
  for (Layer& layer : graph.layers)
    for (Part& part : layer.parts)
      if (part.dtype == DType::fp32) part.dtype = DType::fp16;
}

Function update_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return Function::sgd;
    case Optimizer::momentum:
      return Function::momentum;
    default:
      return Function::adam;
  }
}

int states_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return 0;
    case Optimizer::momentum:
      return 1;
    default:
      return 2;
  }
}

// One update per parameter, with the optimiser's states.
void add_updates(TrainingGraph& step, const BackwardPass& backward,
                 const TrainingOptions& options) {
  for (const auto& [parameter, slope] : backward.gradients) {
    const Tensor tensor = step.graph.tensors[parameter];
    Layer layer;
    layer.name = tensor.name + ".update";
    layer.origin = std::string(to_string(options.optimizer));
    layer.pass = Pass::optimizer;
    layer.parts = {
        {Elementwise{update_of(options.optimizer), element_count(tensor.shape)}, DType::fp32}};
    TensorId master = parameter;
    if (options.mixed_precision) {
      master = step.add_tensor(tensor.name + ".master", ElementType::fp32, tensor.shape,
                               Holding::master_weight);
      layer.outputs.push_back(parameter);
    }
    layer.inputs = {master, slope};
    layer.outputs.push_back(master);
    for (int i = 0; i < states_of(options.optimizer); ++i) {
      const TensorId state =
          step.add_tensor(tensor.name + ".state" + std::to_string(i + 1), ElementType::fp32,
                          tensor.shape, Holding::optimizer_state);
      layer.inputs.push_back(state);
      layer.outputs.push_back(state);
    }
    step.graph.layers.push_back(std::move(layer));
  }
}

bool has_normalization(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return std::holds_alternative<Normalize>(part.op); });
}

// Whether a convolution runs in another module than the one that its weights belong to ("bn1" and
// "conv1.weight"), as torch's dynamo exporter leaves it.
bool runs_elsewhere(const Graph& graph, const Layer& layer) {
  constexpr std::string_view own = ".weight";
  if (layer.scope == no_index || layer.inputs.size() < 2) return false;
  const std::string_view weights = graph.tensors[layer.inputs[1]].name;
  return weights.ends_with(own) &&
         weights.substr(0, weights.size() - own.size()) != graph.modules[layer.scope];
}

// Convolutions with a bias that has no name of a module's own ("onnx::Conv_193" instead of
// "conv1.bias"), or in another module, in a network without any normalisation: an exporter folded
// it.
std::size_t folded_norms(const Graph& forward) {
  std::size_t count = 0;
  for (const Layer& layer : forward.layers) {
    if (has_normalization(layer)) return 0;
    const auto* convolution =
        layer.parts.size() == 1 ? std::get_if<Convolution>(&layer.parts.front().op) : nullptr;
    if (convolution == nullptr) continue;
    const bool has_odd_bias = convolution->bias && layer.inputs.size() > 2 &&
                              !forward.tensors[layer.inputs[2]].name.ends_with("bias");
    if (has_odd_bias || runs_elsewhere(forward, layer)) ++count;
  }
  return count;
}

// Under autocast products read casts of the parameters, which are kept for the backward pass.
void cast_again(TrainingGraph& step) {
  cast_operands(step.graph);
  for (TensorId id = step.holdings.size(); id < step.graph.tensors.size(); ++id)
    step.holdings.push_back(step.graph.tensors[id].role == Role::weight ? Holding::activation
                                                                        : Holding::transient);
}

double unreached(const TrainingGraph& step, const BackwardPass& backward) {
  std::vector<bool> reached(step.trainable.size(), false);
  for (const auto& [parameter, slope] : backward.gradients) reached[parameter] = true;
  double elements = 0;
  for (TensorId id = 0; id < step.trainable.size(); ++id)
    if (step.trainable[id] && !reached[id])
      elements += static_cast<double>(element_count(step.graph.tensors[id].shape));
  return elements;
}

}  // namespace

Training train(const Graph& forward, const TrainingOptions& options) {
  TrainingGraph step = begin(forward);
  const bool casts = read_parameters_uncast(step.graph);
  if (options.mixed_precision) lower_precision(step.graph);
  choose_trainable(step, options.freeze_until);
  BackwardPass backward = add_backward_pass(step, options.checkpoint);
  if (backward.gradients.empty())
    throw Error("--train", "no gradient reaches a parameter: nothing can be learned");
  add_updates(step, backward, options);
  if (casts) cast_again(step);
  Training training;
  training.memory = measure_memory(step.graph, step.holdings);
  training.without_gradient = std::move(backward.without_gradient);
  training.unreached = unreached(step, backward);
  training.folded_norms = folded_norms(forward);
  training.graph = std::move(step.graph);
  return training;
}

}  // namespace ridgeline
