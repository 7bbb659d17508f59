// Visits the layers in reverse order; the gradient of a tensor with several readers is the sum of
// their contributions.
#include "analyzer/training/backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "analyzer/fusion/patterns.h"
#include "analyzer/training/gradients.h"

namespace ridgeline {
namespace {

// The gradient rules of all parts of a layer, combined.
struct LayerGradient {
  std::vector<std::vector<Part>> data;
  std::vector<Part> weights;
  Gradient rule;
};

std::optional<LayerGradient> gradient_rule(const Layer& layer, const GradientInputs& inputs) {
  LayerGradient all;
  all.rule.passes_through = all.rule.joint = true;
  all.rule.weights_read_inputs = false;
  for (const Part& part : layer.parts) {
    const Gradient one = gradient_rule(part.op, inputs);
    if (!one.known) return std::nullopt;
    all.rule.passes_through &= one.passes_through;
    all.rule.joint &= one.joint;
    all.rule.factors = std::max(all.rule.factors, one.factors);
    all.rule.data_reads |= one.data_reads;
    all.rule.weights_read_inputs |= one.weights_read_inputs;
    all.data.resize(std::max(all.data.size(), one.data.size()));
    for (std::size_t i = 0; i < one.data.size(); ++i)
      for (const Op& op : one.data[i]) all.data[i].push_back({op, part.dtype});
    for (const Op& op : one.weights) all.weights.push_back({op, part.dtype});
  }
  return all;
}

void append(std::vector<TensorId>& list, const std::vector<TensorId>& more) {
  for (const TensorId id : more)
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

class Backward {
 public:
  explicit Backward(TrainingGraph& step)
      : step_(step), forward_layers_(step.graph.layers.size()), segment_of_(forward_layers_, 0) {}

  BackwardPass run(bool checkpoint) {
    keep_for_gradients();
    if (checkpoint) choose_checkpoints();
    backward();
    for (const TensorId id : trained_)
      result_.gradients.emplace_back(id, contributions_[id].front());
    return std::move(result_);
  }

 private:
  void keep_for_gradients() {
    for (std::size_t i = 0; i < forward_layers_; ++i) {
      Layer& layer = step_.graph.layers[i];
      if (!runs(layer) || layer.parts.size() != 1 || layer.outputs.size() != 1 ||
          !step_.wanted[layer.outputs.front()])
        continue;
      const auto kept = kept_for_gradient(layer.parts.front().op);
      if (!kept) continue;
      const ElementType type = step_.graph.tensors[layer.outputs.front()].type;
      layer.outputs.push_back(step_.add_tensor(fmt::format("{}.{}", layer.name, kept->name),
                                               kept->type.value_or(type), kept->shape,
                                               Holding::activation));
    }
    step_.trainable.resize(step_.graph.tensors.size(), false);
    step_.wanted.resize(step_.graph.tensors.size(), false);
  }

  // Segments of √n layers: only tensors that cross a boundary are kept.
  void choose_checkpoints() {
    const auto length = static_cast<std::size_t>(
        std::max(1.0, std::ceil(std::sqrt(static_cast<double>(forward_layers_)))));
    for (std::size_t i = 0; i < forward_layers_; ++i) segment_of_[i] = i / length;
  }

  std::int64_t elements(TensorId id) const { return element_count(step_.graph.tensors[id].shape); }

  TensorId gradient_tensor(TensorId of) {
    const Tensor tensor = step_.graph.tensors[of];  // a copy: add_tensor() may reallocate
    return step_.add_tensor("d(" + tensor.name + ")", tensor.type, tensor.shape,
                            step_.trainable[of] ? Holding::gradient : Holding::transient);
  }

  Layer backward_layer(const Layer& forward, Pass pass, std::string_view suffix) const {
    Layer layer;
    layer.name = forward.name + std::string(suffix);
    layer.origin = forward.origin + "Grad";
    layer.sources = {forward.name};
    layer.repeats = forward.repeats;
    layer.shapes = forward.shapes;
    layer.pass = pass;
    return layer;
  }

  void backward() {
    for (const TensorId id : step_.graph.outputs)
      if (step_.wanted[id] && !step_.graph.tensors[id].is_state)
        contribute(id, gradient_tensor(id));
    std::size_t segment = segment_of_.empty() ? 0 : segment_of_.back();
    for (std::size_t i = forward_layers_; i-- > 0;) {
      if (segment_of_[i] != segment) {
        segment = segment_of_[i];
        compute_again(segment);
      }
      if (runs(step_.graph.layers[i])) step_back(i);
    }
  }

  // The last segment is still in memory when the backward pass begins. Of the others, those on a
  // gradient's path are recomputed.
  void compute_again(std::size_t segment) {
    std::vector<std::size_t> layers;
    bool is_wanted = false;
    for (std::size_t i = 0; i < forward_layers_; ++i) {
      if (segment_of_[i] != segment || !runs(step_.graph.layers[i])) continue;
      layers.push_back(i);
      for (const TensorId id : step_.graph.layers[i].outputs)
        is_wanted = is_wanted || step_.wanted[id];
    }
    if (!is_wanted) return;
    for (const std::size_t i : layers)
      for (const TensorId id : step_.graph.layers[i].outputs) {
        const Tensor tensor = step_.graph.tensors[id];
        again_[id] = step_.add_tensor(tensor.name + " again", tensor.type, tensor.shape,
                                      Holding::activation);
      }
    for (const std::size_t i : layers) {
      Layer layer = step_.graph.layers[i];
      for (auto* ids : {&layer.inputs, &layer.outputs, &layer.steering})
        for (TensorId& id : *ids) id = at_hand(id);
      for (auto& [id, elements] : layer.partly_moved) id = at_hand(id);
      layer.name += " again";
      if (!layer.module.empty()) layer.module += " again";
      layer.sources = {step_.graph.layers[i].name};
      layer.pass = Pass::recompute;
      step_.graph.layers.push_back(std::move(layer));
    }
  }

  // A forward tensor for the backward pass: the recomputed one, or the original.
  TensorId at_hand(TensorId id) const {
    const auto found = again_.find(id);
    return found == again_.end() ? id : found->second;
  }

  void contribute(TensorId to, TensorId slope) {
    auto& list = contributions_[to];
    if (step_.trainable[to] && list.empty()) trained_.push_back(to);
    list.push_back(slope);
  }

  // The gradient of a tensor: the sum of its readers' contributions.
  std::optional<TensorId> gradient(TensorId id, const Layer& of) {
    const auto found = contributions_.find(id);
    if (found == contributions_.end() || found->second.empty()) return std::nullopt;
    auto& list = found->second;
    while (list.size() > 1) {
      Layer layer = backward_layer(
          of, step_.trainable[id] ? Pass::backward_weights : Pass::backward_data, ".sum");
      layer.parts = {{Elementwise{Function::accumulate, elements(id)}, dtype_of(id)}};
      layer.inputs = {list[list.size() - 2], list.back()};
      list.resize(list.size() - 2);
      list.push_back(add_gradient_layer(std::move(layer), gradient_tensor(id)));
    }
    return list.front();
  }

  TensorId add_gradient_layer(Layer layer, TensorId output) {
    layer.outputs = {output};
    step_.graph.layers.push_back(std::move(layer));
    return output;
  }

  DType dtype_of(TensorId id) const {
    return compute_dtype(step_.graph.tensors[id].type).value_or(DType::fp32);
  }

  void step_back(std::size_t index) {
    const Layer forward = step_.graph.layers[index];  // a copy: added layers may reallocate
    std::vector<TensorId> incoming;
    for (const TensorId id : forward.outputs)
      if (step_.wanted[id])
        if (const auto dy = gradient(id, forward)) append(incoming, {*dy});
    if (incoming.empty()) return;
    std::vector<TensorId> activations, parameters, data_inputs;
    for (const TensorId id : forward.inputs) {
      if (step_.wanted[id]) activations.push_back(id);
      if (step_.trainable[id]) parameters.push_back(id);
      if (step_.graph.tensors[id].role != Role::weight) data_inputs.push_back(id);
    }
    const bool weight_is_first =
        !data_inputs.empty() && forward.inputs.front() != data_inputs.front();
    const auto found =
        gradient_rule(forward, {forward.inputs.size(), data_inputs.size(), weight_is_first});
    if (!found) {
      result_.without_gradient.push_back(forward.name);
      return;
    }
    // Layers that only move data have no separate rule for parameters.
    if (found->weights.empty()) append(activations, std::exchange(parameters, {}));
    if (found->rule.passes_through)
      hand_on(forward, activations, incoming);
    else if (joins(forward))
      take_apart(forward, activations, incoming.front());
    else if (!activations.empty())
      add_data_gradients(forward, activations, *found, incoming);
    if (!parameters.empty()) {
      if (found->rule.joint && !activations.empty())
        add_weights_to_last(parameters, found->weights);
      else
        add_weight_gradients(
            forward, parameters, found->weights, incoming,
            found->rule.weights_read_inputs ? data_inputs : std::vector<TensorId>());
    }
    // Sums the contributions to parameters that several layers share.
    for (const TensorId id : forward.inputs)
      if (step_.trainable[id]) gradient(id, forward);
  }

  // Sums, casts and views pass the gradient on unchanged. Broadcast operands need a sum, casts are
  // reversed, and parts of a tensor are copied into place.
  void hand_on(const Layer& forward, const std::vector<TensorId>& activations,
               const std::vector<TensorId>& incoming) {
    const TensorId dy = incoming.front();
    for (const TensorId id : activations) {
      const bool is_whole = incoming.size() == 1 && elements(dy) == elements(id);
      const bool is_alike = step_.graph.tensors[dy].type == step_.graph.tensors[id].type;
      if (is_whole && is_alike && !step_.trainable[id]) {  // parameters need their own
        contribute(id, dy);
        continue;
      }
      Layer layer = backward_layer(forward, Pass::backward_data, ".dx");
      layer.inputs = incoming;
      Op op = Copy{};
      if (is_whole && !is_alike)
        op = Elementwise{Function::cast, elements(id)};
      else if (elements(dy) > elements(id))
        op = Reduce{Reduction::sum, elements(dy), elements(id)};
      layer.parts = {{op, dtype_of(id)}};
      contribute(id, add_gradient_layer(std::move(layer), gradient_tensor(id)));
    }
  }

  // A concatenation.
  bool joins(const Layer& layer) const {
    if (layer.parts.size() != 1 || !std::holds_alternative<Copy>(layer.parts.front().op) ||
        layer.inputs.size() < 2)
      return false;
    std::int64_t sum = 0;
    for (const TensorId id : layer.inputs) sum += elements(id);
    return sum == elements(layer.outputs.front());
  }

  // Gradients of concatenated tensors are views of the incoming one, except those of parameters,
  // which must persist.
  void take_apart(const Layer& forward, const std::vector<TensorId>& activations, TensorId dy) {
    for (const TensorId id : activations) {
      Layer layer = backward_layer(forward, Pass::backward_data, ".dx");
      layer.parts = {{step_.trainable[id] ? Op(Copy{elements(id)}) : Op(View{}), dtype_of(id)}};
      layer.inputs = {dy};
      contribute(id, add_gradient_layer(std::move(layer), gradient_tensor(id)));
    }
  }

  std::vector<TensorId> read_by_gradient(const Layer& forward, const Gradient& rule, TensorId of,
                                         const std::vector<TensorId>& incoming) const {
    std::vector<TensorId> list = incoming;
    const bool squares = forward.inputs.size() == 1;  // x·x
    const auto has = [&](unsigned what) { return (rule.data_reads & what) != 0; };
    for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
      const TensorId id = forward.inputs[i];
      const Tensor& tensor = step_.graph.tensors[id];
      if ((i < rule.factors && (id != of || squares)) ||
          has(tensor.role == Role::weight ? reads::weights : reads::inputs) ||
          (has(reads::conditions) && !is_floating(tensor.type)))
        append(list, {at_hand(id)});
    }
    for (const TensorId id : forward.outputs)
      if (has(id == forward.outputs.front() ? reads::outputs : reads::kept))
        append(list, {at_hand(id)});
    return list;
  }

  void add_data_gradients(const Layer& forward, const std::vector<TensorId>& activations,
                          const LayerGradient& gradient, const std::vector<TensorId>& incoming) {
    // One kernel per operand if the rule has several entries, otherwise one for all.
    const auto& parts = gradient.data;
    const bool apart = parts.size() > 1;
    Layer all = backward_layer(forward, Pass::backward_data, ".dx");
    for (std::size_t i = 0; i < activations.size(); ++i) {
      const auto read = read_by_gradient(forward, gradient.rule, activations[i], incoming);
      if (apart) {
        Layer layer = backward_layer(
            forward, step_.trainable[activations[i]] ? Pass::backward_weights : Pass::backward_data,
            ".dx");
        if (activations.size() > 1) layer.name += std::to_string(i + 1);
        layer.inputs = read;
        layer.parts = parts[std::min(place_of(activations[i], forward), parts.size() - 1)];
        add_gradient_of_operand(std::move(layer), activations[i], forward.outputs.front());
        continue;
      }
      append(all.inputs, read);
      all.outputs.push_back(gradient_tensor(activations[i]));
      contribute(activations[i], all.outputs.back());
    }
    if (apart) return;
    // A global pool averages everything, so its gradient does not need the input for its size.
    if ((gradient.rule.data_reads & reads::sizes) && !pools_all(step_.graph, forward))
      for (const TensorId id : activations) all.steering.push_back(at_hand(id));
    for (const auto& some : parts) all.parts.insert(all.parts.end(), some.begin(), some.end());
    step_.graph.layers.push_back(std::move(all));
  }

  static std::size_t place_of(TensorId id, const Layer& layer) {
    return static_cast<std::size_t>(std::find(layer.inputs.begin(), layer.inputs.end(), id) -
                                    layer.inputs.begin());
  }

  // The gradient of an operand that was broadcast is computed in full, then summed.
  void add_gradient_of_operand(Layer layer, TensorId operand, TensorId result) {
    if (layer.parts.size() != 1 || !std::holds_alternative<Elementwise>(layer.parts[0].op) ||
        elements(operand) == elements(result)) {
      contribute(operand, add_gradient_layer(std::move(layer), gradient_tensor(operand)));
      return;
    }
    Layer sum = layer;
    sum.name += ".sum";
    sum.parts = {{Reduce{Reduction::sum, elements(result), elements(operand)}, dtype_of(operand)}};
    const Tensor& whole = step_.graph.tensors[result];
    sum.inputs = {add_gradient_layer(
        std::move(layer), step_.add_tensor("d(" + step_.graph.tensors[operand].name + ") in full",
                                           whole.type, Shape(whole.shape), Holding::transient))};
    contribute(operand, add_gradient_layer(std::move(sum), gradient_tensor(operand)));
  }

  // One kernel computes both kinds of gradient.
  void add_weights_to_last(const std::vector<TensorId>& parameters,
                           const std::vector<Part>& parts) {
    const std::vector<TensorId> slopes = new_weight_gradients(parameters);
    Layer& both = step_.graph.layers.back();
    both.parts.insert(both.parts.end(), parts.begin(), parts.end());
    both.outputs.insert(both.outputs.end(), slopes.begin(), slopes.end());
  }

  void add_weight_gradients(const Layer& forward, const std::vector<TensorId>& parameters,
                            const std::vector<Part>& parts, const std::vector<TensorId>& incoming,
                            const std::vector<TensorId>& data_inputs) {
    Layer layer = backward_layer(forward, Pass::backward_weights, ".dw");
    layer.parts = parts;
    for (const TensorId id : data_inputs) append(layer.inputs, {at_hand(id)});
    append(layer.inputs, incoming);
    layer.outputs = new_weight_gradients(parameters);
    step_.graph.layers.push_back(std::move(layer));
  }

  std::vector<TensorId> new_weight_gradients(const std::vector<TensorId>& parameters) {
    std::vector<TensorId> slopes;
    for (const TensorId id : parameters) {
      slopes.push_back(gradient_tensor(id));
      contribute(id, slopes.back());
    }
    return slopes;
  }

  TrainingGraph& step_;
  std::size_t forward_layers_;
  std::vector<std::size_t> segment_of_;           // by forward layer
  std::unordered_map<TensorId, TensorId> again_;  // recomputed tensors
  std::unordered_map<TensorId, std::vector<TensorId>> contributions_;
  std::vector<TensorId> trained_;  // parameters in the order of their gradients
  BackwardPass result_;
};

}  // namespace

BackwardPass add_backward_pass(TrainingGraph& step, bool checkpoint) {
  return Backward(step).run(checkpoint);
}

}  // namespace ridgeline
