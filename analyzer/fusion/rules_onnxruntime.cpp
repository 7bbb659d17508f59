// The patterns, each as narrow as ONNX Runtime's own.
#include "analyzer/fusion/rules_onnxruntime.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <unordered_set>

namespace ridgeline::onnxruntime {
namespace {

std::optional<Function> function_of(const Op& op) {
  const auto* elementwise = std::get_if<Elementwise>(&op);
  return elementwise == nullptr ? std::nullopt : std::optional(elementwise->function);
}

std::optional<Function> function_of(const Layer& layer) {
  return layer.parts.size() == 1 ? function_of(layer.parts.front().op) : std::nullopt;
}

bool is_one_of(std::optional<Function> function, std::initializer_list<Function> functions) {
  return function && std::find(functions.begin(), functions.end(), *function) != functions.end();
}

bool is_weight(const Graph& graph, TensorId id) { return graph.tensors[id].role == Role::weight; }

// Number of activations that two groups read from outside.
std::size_t activations_read(const FusionCandidate& c) {
  std::unordered_set<TensorId> read, made;
  for (const FusionGroup* group : {&c.producer, &c.consumer})
    for (const std::size_t index : group->layers) {
      const Layer& layer = c.graph.layers[index];
      made.insert(layer.outputs.begin(), layer.outputs.end());
      for (const TensorId id : layer.inputs)
        if (!is_weight(c.graph, id)) read.insert(id);
    }
  return static_cast<std::size_t>(
      std::count_if(read.begin(), read.end(), [&](TensorId id) { return !made.contains(id); }));
}

// A scale or shift by weights is folded into the weights and the bias.
bool scales_or_shifts(const Graph& graph, const Layer& layer) {
  return is_one_of(function_of(layer), {Function::add, Function::multiply}) &&
         std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return is_weight(graph, id); });
}

// A scale per channel after a convolution (LayerScale) is folded into its weights.
bool scales_channels(const Graph& graph, const Layer& layer) {
  if (function_of(layer) != Function::multiply || layer.outputs.empty()) return false;
  const Shape& out = graph.tensors[layer.outputs[0]].shape;
  return out.size() > 2 && std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
           const Shape& scale = graph.tensors[id].shape;
           const std::size_t spatial = out.size() - 2;  // axes behind the channels
           return is_weight(graph, id) && element_count(scale) == out[1] &&
                  scale.size() > spatial && scale[scale.size() - 1 - spatial] == out[1];
         });
}

// Products, sums, scales and shifts only: no non-linear layer.
bool is_linear(const Graph& graph, const FusionGroup& group) {
  return std::all_of(group.layers.begin(), group.layers.end(), [&](std::size_t index) {
    const Layer& layer = graph.layers[index];
    return function_of(layer) == Function::add || scales_or_shifts(graph, layer) ||
           std::all_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
             return (kind_of(part.op) & (kind::product | kind::batch_norm)) != 0;
           });
  });
}

bool reduces_rows(const Graph& graph, const Layer& layer) {
  const auto* reduce =
      layer.parts.size() == 1 ? std::get_if<Reduce>(&layer.parts.front().op) : nullptr;
  if (reduce == nullptr || reduce->kind != Reduction::mean || layer.inputs.empty()) return false;
  const Shape& in = graph.tensors[layer.inputs[0]].shape;
  const Shape& out = graph.tensors[layer.outputs[0]].shape;
  return !in.empty() && element_count(out) * in.back() == element_count(in);
}

bool is_step_of_normalization(const Graph& graph, const Layer& layer) {
  return reduces_rows(graph, layer) ||
         is_one_of(function_of(layer),
                   {Function::add, Function::subtract, Function::multiply, Function::divide,
                    Function::power, Function::sqrt, Function::reciprocal, Function::cast});
}

bool any_layer(const Graph& graph, const FusionGroup& group,
               bool (*test)(const Graph&, const Layer&)) {
  return std::any_of(group.layers.begin(), group.layers.end(),
                     [&](std::size_t index) { return test(graph, graph.layers[index]); });
}

bool normalizes_rows(const Layer& layer) {
  const auto* normalize =
      layer.parts.size() == 1 ? std::get_if<Normalize>(&layer.parts.front().op) : nullptr;
  return normalize != nullptr &&
         (normalize->kind == Normalization::layer || normalize->kind == Normalization::rms);
}

bool adds(const Graph&, const Layer& layer) { return function_of(layer) == Function::add; }

bool swaps_last_axes(const Graph& graph, const Layer& layer) {
  if (!only_moves(graph, layer) || layer.inputs.size() != 1) return false;
  Shape turned = graph.tensors[layer.inputs[0]].shape;
  if (turned.size() < 2) return false;
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  return graph.tensors[layer.outputs[0]].shape == turned;
}

}  // namespace

bool convolution_and_activation(const FusionCandidate& c) {
  const Layer* layer = single_layer(c.graph, c.consumer);
  const bool is_plain = all_layers(c.graph, c.producer, [](const Graph&, const Layer& one) {
    const auto* convolution = std::get_if<Convolution>(&one.parts.front().op);
    return convolution == nullptr || !convolution->transposed;
  });
  // PRelu reads its slopes and stays a node of its own.
  if (layer != nullptr && function_of(*layer) == Function::leaky_relu && layer->inputs.size() > 1)
    return false;
  if (layer == nullptr || !is_plain || c.producer.products != 1 ||
      !c.producer.has(kind::convolution) || !is_linear(c.graph, c.producer) || !keeps_size(c))
    return false;
  if (scales_channels(c.graph, *layer)) return single_layer(c.graph, c.producer) != nullptr;
  // The residual sum after such a scale stays a node.
  return !any_layer(c.graph, c.producer, scales_channels) &&
         is_one_of(function_of(*layer), {Function::add, Function::relu, Function::clip,
                                         Function::leaky_relu, Function::sigmoid, Function::tanh,
                                         Function::hard_sigmoid, Function::hard_swish});
}

bool product_and_activation(const FusionCandidate& c) {
  const Layer* layer = single_layer(c.graph, c.consumer);
  return layer != nullptr && c.producer.products == 1 && !c.producer.has(kind::convolution) &&
         !is_product_of_activations(c.graph, c.producer) && is_linear(c.graph, c.producer) &&
         keeps_size(c) &&
         (scales_or_shifts(c.graph, *layer) ||
          is_one_of(function_of(*layer),
                    {Function::relu, Function::leaky_relu, Function::sigmoid, Function::tanh,
                     Function::hard_sigmoid, Function::quantize}));
}

bool function_of_one_tensor(const FusionCandidate& c) {
  if (!c.producer.has_only(kind::pointwise) || !c.consumer.has_only(kind::pointwise)) return false;
  const auto has = [&](bool (*test)(const Graph&, const Layer&)) {
    return any_layer(c.graph, c.producer, test) || any_layer(c.graph, c.consumer, test);
  };
  // A partly merged Gelu may read x and a polynomial of x.
  if (has([](const Graph&, const Layer& layer) {
        return is_one_of(function_of(layer), {Function::erf, Function::tanh});
      }))
    return activations_read(c) <= 2;
  return activations_read(c) == 1 && has([](const Graph&, const Layer& layer) {
           return function_of(layer) == Function::sigmoid;
         });
}

bool normalization_of_sum(const FusionCandidate& c) {
  if (const Layer* layer = single_layer(c.graph, c.consumer); layer && normalizes_rows(*layer))
    return all_layers(c.graph, c.producer, adds);
  return all_layers(c.graph, c.producer, is_step_of_normalization) &&
         all_layers(c.graph, c.consumer, is_step_of_normalization) &&
         (any_layer(c.graph, c.producer, reduces_rows) ||
          any_layer(c.graph, c.consumer, reduces_rows)) &&
         activations_read(c) <= 2;
}

std::vector<bool> unknown_normalizations(const Graph& graph) {
  std::vector<std::size_t> maker(graph.tensors.size(), no_index);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const TensorId id : graph.layers[i].outputs) maker[id] = i;
  std::vector<bool> found(graph.layers.size(), false);
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    if (function_of(graph.layers[i]) != Function::reciprocal) continue;
    std::vector<std::size_t> steps{i};
    // Reciprocal, root, sum with epsilon, mean, square.
    while (steps.size() < 5 && !graph.layers[steps.back()].inputs.empty()) {
      const std::size_t before = maker[graph.layers[steps.back()].inputs.front()];
      if (before == no_index || !is_step_of_normalization(graph, graph.layers[before])) break;
      steps.push_back(before);
    }
    const auto is_mean = [&](std::size_t step) { return reduces_rows(graph, graph.layers[step]); };
    if (std::any_of(steps.begin(), steps.end(), is_mean))
      for (const std::size_t step : steps) found[step] = true;
  }
  return found;
}

bool scaled_or_transposed_product(const FusionCandidate& c) {
  if (is_product_of_activations(c.graph, c.consumer)) {
    const Layer* layer = single_layer(c.graph, c.producer);
    return layer != nullptr && (only_scales(c.graph, *layer) || swaps_last_axes(c.graph, *layer));
  }
  const Layer* layer = single_layer(c.graph, c.consumer);
  return layer != nullptr && is_product_of_activations(c.graph, c.producer) &&
         only_scales(c.graph, *layer);
}

bool batch_norm_and_activation(const FusionCandidate& c) {
  const Layer* layer = single_layer(c.graph, c.consumer);
  return layer != nullptr && c.producer.has_only(kind::batch_norm) &&
         is_one_of(function_of(*layer), {Function::relu, Function::clip});
}

}  // namespace ridgeline::onnxruntime
