// Searches from every product for the steps before and after it, through views and copies of
// weights. If only the weights are quantised, they are widened as they are read: fewer bytes, same
// arithmetic.
#include "analyzer/fusion/absorb_quantization.h"

#include <algorithm>
#include <unordered_map>

namespace ridgeline {
namespace {

bool is_step(const Layer& layer, Function function) {
  if (layer.parts.size() != 1) return false;
  const auto* step = std::get_if<Elementwise>(&layer.parts.front().op);
  return step != nullptr && step->function == function;
}

bool is_quantizable(const Layer& layer) {
  return layer.standing != Standing::folded && layer.parts.size() == 1 &&
         (std::holds_alternative<Convolution>(layer.parts.front().op) ||
          std::holds_alternative<MatMul>(layer.parts.front().op));
}

class Absorber {
 public:
  explicit Absorber(Graph& graph)
      : graph_(graph), producer_(graph.tensors.size(), no_index), uses_(graph.tensors.size(), 0) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      for (const TensorId id : graph.layers[i].outputs) producer_[id] = i;
      for (const TensorId id : graph.layers[i].inputs) {
        ++uses_[id];
        consumer_[id] = i;
      }
    }
    for (const TensorId id : graph.outputs) ++uses_[id];
  }

  void run() {
    for (Layer& layer : graph_.layers)
      if (is_quantizable(layer)) absorb(layer);
    // Steps without remaining readers are absorbed.
    for (Layer& layer : graph_.layers)
      if (touched_.contains(&layer) && layer.standing == Standing::counted &&
          std::all_of(layer.outputs.begin(), layer.outputs.end(),
                      [&](TensorId id) { return uses_[id] == 0; }))
        layer.standing = Standing::absorbed;
  }

 private:
  Layer* producer(TensorId id) {
    return producer_[id] == no_index ? nullptr : &graph_.layers[producer_[id]];
  }

  // The dequantisation that makes a tensor; weights may be transposed or reshaped in between.
  Layer* dequantization(TensorId id) {
    Layer* layer = producer(id);
    while (layer != nullptr && layer->standing == Standing::folded && !layer->inputs.empty() &&
           layer->parts.size() == 1 &&
           (std::holds_alternative<View>(layer->parts.front().op) ||
            std::holds_alternative<Copy>(layer->parts.front().op)))
      layer = producer(layer->inputs.front());
    if (layer == nullptr || !is_step(*layer, Function::dequantize) || layer->inputs.empty())
      return nullptr;
    return bits(graph_.tensors[layer->inputs.front()].type) > 0 ? layer : nullptr;
  }

  void absorb(Layer& product) {
    if (product.inputs.size() < 2) return;
    Layer* activations = dequantization(product.inputs[0]);
    Layer* weights = dequantization(product.inputs[1]);
    if (weights == nullptr) return;
    const auto type = [&](const Layer* step) { return graph_.tensors[step->inputs.front()].type; };
    constexpr int matrix_unit_bits = 8;
    const bool quantised = activations != nullptr && bits(type(activations)) <= matrix_unit_bits &&
                           bits(type(weights)) <= matrix_unit_bits;
    const bool weights_are_constant = graph_.tensors[product.inputs[1]].role == Role::weight;
    if (!quantised && !weights_are_constant) return;

    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < product.inputs.size(); ++i) {
      const TensorId id = product.inputs[i];
      Layer* step = i == 0 && !quantised ? nullptr : dequantization(id);
      if (step == nullptr) {
        append(inputs, id);
        continue;
      }
      --uses_[id];
      touched_.emplace(step, true);
      append(inputs, step->inputs.front());
      ++uses_[step->inputs.front()];
      // Scales of weights are read with them; for activations the scale is one number.
      if (i > 0 && step->inputs.size() > 1) append(inputs, step->inputs[1]);
      mark_parameter(id, step->inputs.front());
    }
    product.inputs = std::move(inputs);
    if (!quantised) return;
    product.parts.front().dtype =
        compute_dtype(type(activations)).value_or(product.parts.front().dtype);
    absorb_output(product);
  }

  void append(std::vector<TensorId>& list, TensorId id) const {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  }

  // The quantised tensor becomes the parameter instead of the dequantised one.
  void mark_parameter(TensorId from, TensorId to) {
    if (!graph_.tensors[from].is_parameter || graph_.tensors[to].role != Role::weight) return;
    graph_.tensors[from].is_parameter = false;
    graph_.tensors[to].is_parameter = true;
  }

  void absorb_output(Layer& product) {
    if (product.outputs.size() != 1 || uses_[product.outputs.front()] != 1) return;
    const TensorId id = product.outputs.front();
    const auto consumer = consumer_.find(id);
    if (consumer == consumer_.end()) return;
    Layer& step = graph_.layers[consumer->second];
    if (!is_step(step, Function::quantize) || step.inputs.front() != id ||
        step.outputs.size() != 1 || step.standing != Standing::counted ||
        step.repeats != product.repeats)
      return;
    product.outputs = step.outputs;
    step.standing = Standing::absorbed;
    step.outputs.clear();
  }

  Graph& graph_;
  std::vector<std::size_t> producer_;                   // layer that writes a tensor
  std::vector<int> uses_;                               // number of readers, graph outputs included
  std::unordered_map<TensorId, std::size_t> consumer_;  // the last reader
  std::unordered_map<const Layer*, bool> touched_;
};

}  // namespace

void absorb_quantization(Graph& graph) {
  const bool has_steps =
      std::any_of(graph.layers.begin(), graph.layers.end(),
                  [](const Layer& layer) { return is_step(layer, Function::dequantize); });
  if (has_steps) Absorber(graph).run();
}

}  // namespace ridgeline
