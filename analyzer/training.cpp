// One training step from a forward graph: gradients in reverse order, then the optimizer.
// What each Op's gradient computes is in gradients.cpp; here are the tensors and who needs what.
#include "analyzer/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/count.h"
#include "analyzer/gradients.h"
#include "base/error.h"
#include "base/json.h"

namespace ridgeline {
namespace {

bool can_learn(const Tensor& tensor) { return tensor.is_parameter && is_floating(tensor.type); }

class Trainer {
 public:
  Trainer(const Graph& forward, const TrainingOptions& options)
      : options_(options), graph_(forward) {
    if (options_.mixed_precision) lower_precision();
    for (Layer& layer : graph_.layers)
      for (Part& part : layer.parts)
        if (auto* normalize = std::get_if<Normalize>(&part.op)) normalize->training = true;
    forward_layers_ = graph_.layers.size();
  }

  Training run() {
    choose_learning();
    find_wanted();
    choose_checkpoints();
    backward();
    optimize();
    measure_memory();
    return {std::move(graph_), memory_, std::move(without_gradient_)};
  }

 private:
  // fp32 weights and activations become fp16; the optimizer keeps fp32 copies.
  void lower_precision() {
    for (Tensor& tensor : graph_.tensors)
      if (tensor.type == ElementType::fp32) tensor.type = ElementType::fp16;
    for (Layer& layer : graph_.layers)
      for (Part& part : layer.parts)
        if (part.dtype == DType::fp32) part.dtype = DType::fp16;
  }

  void choose_learning() {
    learns_.assign(graph_.tensors.size(), false);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id)
      learns_[id] = can_learn(graph_.tensors[id]);
    refuse_integer_products();
    if (!options_.freeze_until.empty()) freeze();
    if (std::find(learns_.begin(), learns_.end(), true) == learns_.end())
      throw Error("--train",
                  options_.freeze_until.empty()
                      ? "no parameter can learn: the network has no floating-point weights"
                      : "no parameter is left to learn after --freeze-until " +
                            quote(options_.freeze_until));
  }

  // Gradients of integers do not exist: such a network was quantised after its training.
  void refuse_integer_products() const {
    for (const Layer& layer : graph_.layers)
      for (const TensorId id : layer.inputs)
        if (graph_.tensors[id].is_parameter && !is_floating(graph_.tensors[id].type) &&
            std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
              return std::holds_alternative<Convolution>(part.op) ||
                     std::holds_alternative<MatMul>(part.op);
            }))
          throw Error("--train",
                      fmt::format("layer {} has weights of {}, which cannot learn",
                                  quote(layer.name), to_string(graph_.tensors[id].type)));
  }

  // A layer's name, or the name of the module that it is the last layer of.
  void freeze() {
    std::size_t last = forward_layers_;
    for (std::size_t i = 0; i < forward_layers_; ++i) {
      const std::string& name = graph_.layers[i].name;
      if (name == options_.freeze_until || name.starts_with(options_.freeze_until + ".") ||
          name.starts_with(options_.freeze_until + "/"))
        last = i;
    }
    if (last == forward_layers_)
      throw usage_error("--freeze-until " + options_.freeze_until, "no layer has this name");
    for (std::size_t i = 0; i <= last; ++i)
      for (const TensorId id : graph_.layers[i].inputs) learns_[id] = false;
  }

  static bool takes_part(const Layer& layer) {
    return layer.standing == Standing::counted && !layer.parts.empty();
  }

  // A gradient is wanted of everything that depends on a parameter which learns.
  void find_wanted() {
    wanted_.assign(graph_.tensors.size(), false);
    for (const Layer& layer : graph_.layers) {
      if (!takes_part(layer)) continue;
      const bool depends = std::any_of(layer.inputs.begin(), layer.inputs.end(),
                                       [&](TensorId id) { return learns_[id] || wanted_[id]; });
      for (const TensorId id : layer.outputs)
        wanted_[id] = depends && is_floating(graph_.tensors[id].type);
    }
  }

  // Segments of √n layers: only what crosses a boundary is kept.
  void choose_checkpoints() {
    segment_of_.assign(forward_layers_, 0);
    if (!options_.checkpoint) return;
    const auto length = static_cast<std::size_t>(
        std::max(1.0, std::ceil(std::sqrt(static_cast<double>(forward_layers_)))));
    for (std::size_t i = 0; i < forward_layers_; ++i) segment_of_[i] = i / length;
  }

  TensorId add_tensor(const std::string& name, ElementType type, const Shape& shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = shape;
    tensor.source = ShapeSource::fixed;
    graph_.tensors.push_back(tensor);
    return graph_.tensors.size() - 1;
  }

  TensorId gradient_tensor(TensorId of) {
    const Tensor& tensor = graph_.tensors[of];
    const std::string name = "d(" + tensor.name + ")";
    const ElementType type = tensor.type;
    const Shape shape = tensor.shape;
    return add_tensor(name, type, shape);
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
    for (const TensorId id : graph_.outputs)
      if (wanted_[id]) contributions_[id].push_back(gradient_tensor(id));
    std::size_t segment = segment_of_.empty() ? 0 : segment_of_.back();
    for (std::size_t i = forward_layers_; i-- > 0;) {
      if (segment_of_[i] != segment) {
        segment = segment_of_[i];
        compute_again(segment);
      }
      if (takes_part(graph_.layers[i])) step_back(i);
    }
  }

  // The last segment is still there when the backward pass begins; the others are computed again.
  void compute_again(std::size_t segment) {
    for (std::size_t i = 0; i < forward_layers_; ++i) {
      if (segment_of_[i] != segment || !takes_part(graph_.layers[i])) continue;
      Layer layer = graph_.layers[i];
      layer.name += " again";
      if (!layer.module.empty()) layer.module += " again";
      layer.sources = {graph_.layers[i].name};
      layer.pass = Pass::recompute;
      graph_.layers.push_back(std::move(layer));
    }
  }

  // The gradient of a tensor: the sum of what its readers contribute.
  std::optional<TensorId> gradient(TensorId id, const Layer& of) {
    const auto found = contributions_.find(id);
    if (found == contributions_.end() || found->second.empty()) return std::nullopt;
    auto& list = found->second;
    while (list.size() > 1) {
      const TensorId sum = gradient_tensor(id);
      Layer layer = backward_layer(of, Pass::backward_data, ".sum");
      layer.parts = {{Elementwise{Function::accumulate, element_count(graph_.tensors[id].shape)},
                      dtype_of(id)}};
      layer.inputs = {list[list.size() - 2], list.back()};
      layer.outputs = {sum};
      graph_.layers.push_back(std::move(layer));
      list.resize(list.size() - 2);
      list.push_back(sum);
    }
    return list.front();
  }

  DType dtype_of(TensorId id) const {
    return compute_dtype(graph_.tensors[id].type).value_or(DType::fp32);
  }

  static void append(std::vector<TensorId>& list, const std::vector<TensorId>& more) {
    for (const TensorId id : more)
      if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  }

  void step_back(std::size_t index) {
    const Layer forward = graph_.layers[index];  // a copy: layers are added meanwhile
    std::vector<TensorId> incoming;
    for (const TensorId id : forward.outputs)
      if (wanted_[id])
        if (const auto dy = gradient(id, forward)) append(incoming, {*dy});
    if (incoming.empty()) return;
    std::vector<TensorId> activations, parameters, data_inputs, weight_inputs;
    for (const TensorId id : forward.inputs) {
      if (wanted_[id]) activations.push_back(id);
      if (learns_[id]) parameters.push_back(id);
      (graph_.tensors[id].role == Role::weight ? weight_inputs : data_inputs).push_back(id);
    }
    std::vector<Part> to_weights;
    std::vector<TensorId> data_reads = incoming;
    std::vector<std::vector<Part>> to_data;
    bool passes_through = true, joint = true, weights_read_inputs = false;
    for (const Part& part : forward.parts) {
      const Gradient rule = gradient_of(part.op, data_inputs.size());
      if (!rule.known) {
        without_gradient_.push_back(forward.name);
        return;
      }
      passes_through = passes_through && rule.passes_through;
      joint = joint && rule.joint;
      weights_read_inputs = weights_read_inputs || rule.weights_read_inputs;
      if (rule.data_reads_inputs) append(data_reads, data_inputs);
      if (rule.data_reads_outputs) append(data_reads, forward.outputs);
      if (rule.data_reads_weights) append(data_reads, weight_inputs);
      for (std::size_t i = 0; i < rule.data.size(); ++i) {
        if (to_data.size() <= i) to_data.emplace_back();
        for (const Op& op : rule.data[i]) to_data[i].push_back({op, part.dtype});
      }
      for (const Op& op : rule.weights) to_weights.push_back({op, part.dtype});
    }
    if (passes_through)
      pass_through(activations, incoming.front());
    else if (!activations.empty())
      add_data_gradients(forward, activations, to_data, data_reads);
    if (parameters.empty() || to_weights.empty()) return;
    if (joint && !activations.empty()) {
      Layer& both = graph_.layers.back();
      both.parts.insert(both.parts.end(), to_weights.begin(), to_weights.end());
      for (const TensorId dw : new_weight_gradients(parameters))
        graph_.layers.back().outputs.push_back(dw);
      return;
    }
    add_weight_gradients(forward, parameters, to_weights, incoming,
                         weights_read_inputs ? data_inputs : std::vector<TensorId>());
  }

  // Sums and views hand the gradient on; where a side was broadcast it is summed up again.
  void pass_through(const std::vector<TensorId>& activations, TensorId incoming) {
    for (const TensorId id : activations) contributions_[id].push_back(incoming);
  }

  void add_data_gradients(const Layer& forward, const std::vector<TensorId>& activations,
                          const std::vector<std::vector<Part>>& parts,
                          const std::vector<TensorId>& reads) {
    // One kernel per operand where the rule has one for each, else one for all together.
    const bool apart = parts.size() > 1 && parts.size() >= activations.size();
    Layer layer = backward_layer(forward, Pass::backward_data, ".dx");
    layer.inputs = reads;
    for (std::size_t i = 0; i < activations.size(); ++i) {
      const TensorId dx = gradient_tensor(activations[i]);
      contributions_[activations[i]].push_back(dx);
      layer.outputs.push_back(dx);
      if (!apart) continue;
      layer.parts = parts[i];
      if (activations.size() > 1) layer.name = forward.name + ".dx" + std::to_string(i + 1);
      graph_.layers.push_back(layer);
      layer.outputs.clear();
    }
    if (apart || layer.outputs.empty()) return;
    for (const auto& some : parts) layer.parts.insert(layer.parts.end(), some.begin(), some.end());
    graph_.layers.push_back(std::move(layer));
  }

  void add_weight_gradients(const Layer& forward, const std::vector<TensorId>& parameters,
                            const std::vector<Part>& parts, const std::vector<TensorId>& incoming,
                            const std::vector<TensorId>& data_inputs) {
    Layer layer = backward_layer(forward, Pass::backward_weights, ".dw");
    layer.parts = parts;
    append(layer.inputs, data_inputs);
    append(layer.inputs, incoming);
    layer.outputs = new_weight_gradients(parameters);
    graph_.layers.push_back(std::move(layer));
  }

  std::vector<TensorId> new_weight_gradients(const std::vector<TensorId>& parameters) {
    std::vector<TensorId> gradients;
    for (const TensorId id : parameters) {
      gradients.push_back(gradient_tensor(id));
      weight_gradients_.push_back({id, gradients.back()});
    }
    return gradients;
  }

  // One update per parameter, with the states that the method keeps.
  void optimize() {
    std::unordered_set<TensorId> done;
    for (const auto& [parameter, slope] : weight_gradients_) {
      if (!done.insert(parameter).second) continue;
      const Tensor tensor = graph_.tensors[parameter];
      const auto elements = element_count(tensor.shape);
      Layer layer;
      layer.name = tensor.name + ".update";
      layer.origin = std::string(to_string(options_.optimizer));
      layer.pass = Pass::optimizer;
      layer.parts = {{Elementwise{function(), elements}, DType::fp32}};
      TensorId master = parameter;
      if (options_.mixed_precision) {
        master = add_tensor(tensor.name + ".master", ElementType::fp32, tensor.shape);
        layer.outputs.push_back(parameter);
        memory_.master_weights += 4.0 * static_cast<double>(elements);
      }
      layer.inputs = {master, slope};
      layer.outputs.push_back(master);
      for (int i = 0; i < states(); ++i) {
        const TensorId state = add_tensor(tensor.name + ".state" + std::to_string(i + 1),
                                          ElementType::fp32, tensor.shape);
        layer.inputs.push_back(state);
        layer.outputs.push_back(state);
        memory_.optimizer_state += 4.0 * static_cast<double>(elements);
      }
      memory_.gradients += tensor_bytes(graph_.tensors[slope]).value_or(0);
      graph_.layers.push_back(std::move(layer));
    }
  }

  Function function() const {
    switch (options_.optimizer) {
      case Optimizer::sgd:
        return Function::sgd;
      case Optimizer::momentum:
        return Function::momentum;
      default:
        return Function::adam;
    }
  }

  int states() const {
    switch (options_.optimizer) {
      case Optimizer::sgd:
        return 0;
      case Optimizer::momentum:
        return 1;
      default:
        return 2;
    }
  }

  void measure_memory();

  const TrainingOptions& options_;
  Graph graph_;
  std::size_t forward_layers_ = 0;
  std::vector<bool> learns_, wanted_;    // by tensor
  std::vector<std::size_t> segment_of_;  // by forward layer
  std::unordered_map<TensorId, std::vector<TensorId>> contributions_;
  std::vector<std::pair<TensorId, TensorId>> weight_gradients_;
  TrainingMemory memory_;
  std::vector<std::string> without_gradient_;
};

// Saved is what gradients read of the forward pass; a view shares the bytes of what it looks at.
void Trainer::measure_memory() {
  const std::size_t forward_tensors = wanted_.size();
  std::vector<TensorId> root(forward_tensors);
  std::vector<std::size_t> made_in(forward_tensors, 0);
  for (TensorId id = 0; id < forward_tensors; ++id) {
    root[id] = id;
    const Tensor& tensor = graph_.tensors[id];
    if (tensor.role == Role::weight && tensor.is_parameter)
      memory_.weights += tensor_bytes(tensor).value_or(0);
  }
  for (std::size_t i = 0; i < forward_layers_; ++i) {
    const Layer& layer = graph_.layers[i];
    for (const TensorId id : layer.outputs) {
      made_in[id] = segment_of_[i];
      if (is_view(layer) && !layer.inputs.empty()) root[id] = root[layer.inputs.front()];
    }
  }
  std::unordered_set<TensorId> saved;
  for (std::size_t i = forward_layers_; i < graph_.layers.size(); ++i) {
    const Layer& layer = graph_.layers[i];
    double live = 0;
    for (const TensorId id : layer.inputs) {
      if (id >= forward_tensors)
        live += layer.pass == Pass::optimizer ? 0 : tensor_bytes(graph_.tensors[id]).value_or(0);
      else if (graph_.tensors[id].role != Role::weight &&
               (layer.pass == Pass::backward_data || layer.pass == Pass::backward_weights))
        saved.insert(root[id]);
    }
    if (layer.pass == Pass::backward_data)
      for (const TensorId id : layer.outputs) live += tensor_bytes(graph_.tensors[id]).value_or(0);
    memory_.transient = std::max(memory_.transient, live);
  }
  if (!options_.checkpoint) {
    for (const TensorId id : saved) memory_.saved += tensor_bytes(graph_.tensors[id]).value_or(0);
    return;
  }
  // Kept all the time: what crosses from one segment to a later one. On top of that, the largest
  // segment while it is being gone through.
  std::unordered_set<TensorId> crossing;
  for (std::size_t i = 0; i < forward_layers_; ++i)
    for (const TensorId id : graph_.layers[i].inputs)
      if (graph_.tensors[id].role != Role::weight && made_in[id] != segment_of_[i])
        crossing.insert(root[id]);
  std::unordered_map<std::size_t, double> inside;
  for (const TensorId id : saved)
    if (!crossing.contains(id)) inside[made_in[id]] += tensor_bytes(graph_.tensors[id]).value_or(0);
  for (const TensorId id : crossing) memory_.saved += tensor_bytes(graph_.tensors[id]).value_or(0);
  double largest = 0;
  for (const auto& [segment, bytes] : inside) largest = std::max(largest, bytes);
  memory_.saved += largest;
}

}  // namespace

Training train(const Graph& forward, const TrainingOptions& options) {
  return Trainer(forward, options).run();
}

}  // namespace ridgeline
