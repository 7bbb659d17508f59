// One training step from a forward graph: its passes one after the other.
// Gradients are backward.cpp's, what learns is learning.cpp's; here are precision and optimizer.
#include "analyzer/training/training.h"

#include <utility>

#include "analyzer/training/backward.h"
#include "analyzer/training/trainable.h"
#include "base/error.h"

namespace ridgeline {
namespace {

TrainingStep begin(const Graph& forward) {
  TrainingStep step;
  step.graph = forward;
  for (const Tensor& tensor : step.graph.tensors)
    step.holdings.push_back(tensor.role != Role::weight ? Holding::activation
                            : tensor.is_parameter       ? Holding::weight
                                                        : Holding::constant);
  return step;
}

// fp32 weights and activations become fp16; the optimizer keeps fp32 copies.
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

// One update per parameter, with the states that the method keeps.
void add_updates(TrainingStep& step, const BackwardPass& backward, const TrainingOptions& options) {
  for (const auto& [parameter, slope] : backward.learned) {
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

double unreached(const TrainingStep& step, const BackwardPass& backward) {
  std::vector<bool> reached(step.learns.size(), false);
  for (const auto& [parameter, slope] : backward.learned) reached[parameter] = true;
  double elements = 0;
  for (TensorId id = 0; id < step.learns.size(); ++id)
    if (step.learns[id] && !reached[id])
      elements += static_cast<double>(element_count(step.graph.tensors[id].shape));
  return elements;
}

}  // namespace

Training train(const Graph& forward, const TrainingOptions& options) {
  TrainingStep step = begin(forward);
  if (options.mixed_precision) lower_precision(step.graph);
  choose_learning(step, options.freeze_until);
  BackwardPass backward = add_backward_pass(step, options.checkpoint);
  if (backward.learned.empty())
    throw Error("--train", "no gradient reaches a parameter: nothing can be learned");
  add_updates(step, backward, options);
  Training training;
  training.memory = measure_memory(step.graph, step.holdings);
  training.without_gradient = std::move(backward.without_gradient);
  training.unreached = unreached(step, backward);
  training.graph = std::move(step.graph);
  return training;
}

}  // namespace ridgeline
