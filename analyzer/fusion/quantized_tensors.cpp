// TensorRT's rules, as its guide states them ("Q/DQ layer-placement") and its engines of quantised
// ResNets and MobileNets show: quantise steps move up and dequantise steps down through layers that
// only move or select elements; element-wise layers and pools read and write quantised tensors. A
// convolution reads a quantised residual only if it writes a quantised result; otherwise the
// residual is dequantised in a kernel of its own. ONNX Runtime replaces single nodes between steps.
#include "analyzer/fusion/quantized_tensors.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "analyzer/count/count.h"
#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/fusion/patterns.h"
#include "analyzer/fusion/simplify.h"

namespace ridgeline {
namespace {

const Elementwise* elementwise_step(const Layer& layer) {
  return layer.parts.size() == 1 ? std::get_if<Elementwise>(&layer.parts.front().op) : nullptr;
}

bool is_step_of(const Layer& layer, Function function) {
  const auto* step = elementwise_step(layer);
  return step != nullptr && step->function == function && takes_part(layer) &&
         !layer.inputs.empty() && layer.outputs.size() == 1;
}

bool is_quantize(const Layer& layer) { return is_step_of(layer, Function::quantize); }
bool is_dequantize(const Layer& layer) { return is_step_of(layer, Function::dequantize); }

bool is_pointwise(const Layer& layer) {
  return takes_part(layer) && layer.outputs.size() == 1 &&
         std::all_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return kind_of(part.op) == kind::pointwise; });
}

// A batch normalisation at inference, which a product before it takes in.
bool is_folded_norm(const Layer& layer) {
  return takes_part(layer) && layer.parts.size() == 1 &&
         kind_of(layer.parts.front().op) == kind::batch_norm;
}

bool has_product(const Layer& layer) {
  return takes_part(layer) && std::any_of(layer.parts.begin(), layer.parts.end(),
                                          [](const Part& part) { return is_product(part.op); });
}

// Elements are moved or selected, so that the layer computes the same on quantised elements.
bool selects(const Graph& graph, const Layer& layer) {
  if (!takes_part(layer) || layer.parts.size() != 1 || layer.outputs.size() != 1) return false;
  const Op& op = layer.parts.front().op;
  if (const auto* pool = std::get_if<Pool>(&op)) return pool->kind == Pooling::max;
  if (const auto* resize = std::get_if<Resize>(&op))
    return resize->kind == Interpolation::nearest && resize->samples == 1;
  return only_moves(graph, layer) && std::holds_alternative<Copy>(op);
}

// Computes in integers if both its inputs and its result are quantised.
bool has_integer_kernel(const Layer& layer) {
  if (!takes_part(layer) || layer.parts.size() != 1 || layer.outputs.size() != 1) return false;
  const Op& op = layer.parts.front().op;
  if (const auto* reduce = std::get_if<Reduce>(&op)) return reduce->kind == Reduction::mean;
  return std::holds_alternative<Pool>(op) || std::holds_alternative<Resize>(op);
}

class TensorQuantizer {
 public:
  explicit TensorQuantizer(Graph& graph) : graph_(graph) {
    for (Layer& layer : graph.layers)
      if (layer.standing == Standing::absorbed) layer.inputs.clear();
    producer_.assign(graph.tensors.size(), no_index);
    readers_.resize(graph.tensors.size());
    for (std::size_t i = 0; i < graph.layers.size(); ++i) link(i);
    is_output_.assign(graph.tensors.size(), false);
    for (const TensorId id : graph.outputs) is_output_[id] = true;
  }

  // Products have absorbed some steps already; the dequantise steps after those are still there.
  static void mark_quantized(Graph& graph) {
    for (const Layer& layer : graph.layers) {
      const auto* step = elementwise_step(layer);
      if (step == nullptr || layer.inputs.empty()) continue;
      if (step->function == Function::dequantize)
        graph.tensors[layer.inputs.front()].is_quantized = true;
      if (step->function == Function::quantize && !layer.outputs.empty())
        graph.tensors[layer.outputs.front()].is_quantized = true;
    }
  }

  void run(bool node_by_node) {
    merge_equal_steps();
    for (std::size_t i = graph_.layers.size(); i-- > 0;)
      if (is_quantize(graph_.layers[i])) {
        if (node_by_node)
          absorb_around(i);
        else
          move_up(i);
      }
    if (node_by_node) return;
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (is_dequantize(graph_.layers[i])) move_down(i);
  }

 private:
  void link(std::size_t layer) {
    for (const TensorId id : graph_.layers[layer].outputs) producer_[id] = layer;
    if (graph_.layers[layer].standing == Standing::folded) return;
    for (const auto* ids : {&graph_.layers[layer].inputs, &graph_.layers[layer].steering})
      for (const TensorId id : *ids) readers_[id].push_back(layer);
  }

  Layer* maker(TensorId id) {
    return producer_[id] == no_index ? nullptr : &graph_.layers[producer_[id]];
  }

  // The layer that alone reads a tensor; no_index if there are more, or it leaves the network.
  std::size_t only_reader(TensorId id) const {
    return readers_[id].size() == 1 && !is_output_[id] ? readers_[id].front() : no_index;
  }

  bool has_matrix_type(TensorId id) const {
    constexpr int most_bits = 8;
    const int width = bits(graph_.tensors[id].type);
    return width > 0 && width <= most_bits;
  }

  // The quantised tensor behind a dequantised one; no_index if there is none.
  TensorId quantized(TensorId id) {
    const Layer* step = maker(id);
    if (step == nullptr || !is_dequantize(*step) || !has_matrix_type(step->inputs.front()))
      return no_index;
    return step->inputs.front();
  }

  void replace_input(std::size_t layer, TensorId from, TensorId to) {
    for (auto* ids : {&graph_.layers[layer].inputs, &graph_.layers[layer].steering}) {
      const auto place = std::find(ids->begin(), ids->end(), from);
      if (place == ids->end()) continue;
      if (std::find(ids->begin(), ids->end(), to) == ids->end())
        *place = to;
      else
        ids->erase(place);
    }
    std::erase(readers_[from], layer);
    if (std::find(readers_[to].begin(), readers_[to].end(), layer) == readers_[to].end())
      readers_[to].push_back(layer);
    for (auto& [id, elements] : graph_.layers[layer].partly_moved)
      if (id == from) id = to;
    absorb_if_unread(from);
  }

  // A dequantise step whose result has no reader left.
  void absorb_if_unread(TensorId id) {
    Layer* step = maker(id);
    if (step == nullptr || !readers_[id].empty() || is_output_[id] || !is_dequantize(*step)) return;
    const std::size_t index = producer_[id];
    for (const TensorId input : step->inputs) std::erase(readers_[input], index);
    step->inputs.clear();  // it reads nothing any more
    step->standing = Standing::absorbed;
  }

  void drop_quantize(std::size_t step) {
    Layer& layer = graph_.layers[step];
    for (const TensorId id : layer.inputs) std::erase(readers_[id], step);
    layer.standing = Standing::absorbed;
    layer.inputs.clear();
    layer.outputs.clear();
  }

  // The layer before a quantise step writes the quantised tensor.
  void write_quantized(std::size_t layer, std::size_t step) {
    const TensorId result = graph_.layers[step].outputs.front();
    drop_quantize(step);
    graph_.layers[layer].outputs = {result};
    producer_[result] = layer;
    compute_in_type_of(layer, result);
  }

  void compute_in_type_of(std::size_t layer, TensorId id) {
    Part& part = graph_.layers[layer].parts.front();
    part.dtype = compute_dtype(graph_.tensors[id].type).value_or(part.dtype);
  }

  // Quantisations of one tensor to one type are one: they were calibrated on the same values.
  void merge_equal_steps() {
    for (TensorId id = 0; id < readers_.size(); ++id) {
      if (readers_[id].size() < 2) continue;
      std::size_t first = no_index;
      for (const std::size_t reader : std::vector(readers_[id])) {
        const Layer& layer = graph_.layers[reader];
        if (!is_quantize(layer) || layer.inputs.front() != id || scales(layer) != 1 ||
            is_output_[layer.outputs.front()])
          continue;
        if (first == no_index)
          first = reader;
        else if (is_same_step(graph_.layers[first], layer))
          redirect(reader, first);
      }
    }
  }

  std::int64_t scales(const Layer& step) const {
    return step.inputs.size() < 2 ? 1 : element_count(graph_.tensors[step.inputs[1]].shape);
  }

  bool is_same_step(const Layer& a, const Layer& b) const {
    return a.repeats == b.repeats &&
           graph_.tensors[a.outputs.front()].type == graph_.tensors[b.outputs.front()].type;
  }

  void redirect(std::size_t step, std::size_t to) {
    const TensorId from = graph_.layers[step].outputs.front();
    const TensorId into = graph_.layers[to].outputs.front();
    for (const std::size_t reader : std::vector(readers_[from])) replace_input(reader, from, into);
    drop_quantize(step);
  }

  // --- up: quantise steps before a layer instead of one after it

  void move_up(std::size_t step) {
    if (absorb_around(step)) return;
    const TensorId read = graph_.layers[step].inputs.front();
    const std::size_t before = producer_[read];
    if (before == no_index || only_reader(read) != step || !run_alike(before, step) ||
        !can_move_above(before))
      return;
    const Layer model = graph_.layers[step];
    write_quantized(before, step);
    for (const TensorId id : std::vector(graph_.layers[before].inputs)) {
      if (quantized(id) != no_index)
        replace_input(before, id, quantized(id));
      else
        move_up(quantize_input(before, id, model));
    }
  }

  // A layer that reads dequantised tensors only, and whose result is quantised: in integers.
  bool absorb_around(std::size_t step) {
    const TensorId read = graph_.layers[step].inputs.front();
    const std::size_t before = producer_[read];
    if (before == no_index || only_reader(read) != step || !run_alike(before, step)) return false;
    Layer& layer = graph_.layers[before];
    if (!selects(graph_, layer) && !has_integer_kernel(layer) && !is_sum_or_product(layer))
      return false;
    if (layer.inputs.empty() ||
        !std::all_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return quantized(id) != no_index; }))
      return false;
    read_quantized(before);
    write_quantized(before, step);
    return true;
  }

  bool is_sum_or_product(const Layer& layer) const {
    const auto* step = elementwise_step(layer);
    return step != nullptr && takes_part(layer) && layer.outputs.size() == 1 &&
           (step->function == Function::add || step->function == Function::multiply ||
            step->function == Function::sigmoid || step->function == Function::leaky_relu);
  }

  void read_quantized(std::size_t layer) {
    for (const TensorId id : std::vector(graph_.layers[layer].inputs))
      if (const TensorId inner = quantized(id); inner != no_index) replace_input(layer, id, inner);
  }

  bool run_alike(std::size_t one, std::size_t other) const {
    return graph_.layers[one].repeats == graph_.layers[other].repeats &&
           graph_.layers[one].pass == graph_.layers[other].pass;
  }

  // Only towards layers that then write the quantised tensor: never more bytes than before. The
  // depth is limited, so that a file with a long chain of moves cannot exhaust the stack.
  bool can_move_above(std::size_t index, int depth = 0) {
    constexpr int max_depth = 64;
    const Layer& layer = graph_.layers[index];
    return depth < max_depth && selects(graph_, layer) && !layer.inputs.empty() &&
           layer.partly_moved.empty() &&
           std::all_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
             const Layer* before = maker(id);
             if (before == nullptr) return false;
             return quantized(id) != no_index ||
                    (only_reader(id) == index && run_alike(producer_[id], index) &&
                     (has_product(*before) || is_pointwise(*before) ||
                      can_move_above(producer_[id], depth + 1)));
           });
  }

  // A step like the model between a tensor and its only reader.
  std::size_t quantize_input(std::size_t reader, TensorId id, const Layer& model) {
    const TensorId type_of = model.outputs.front();
    const TensorId result = new_tensor(id, graph_.tensors[type_of].type);
    const std::size_t step = new_step(model, id, result);
    replace_input(reader, id, result);
    return step;
  }

  TensorId new_tensor(TensorId like, ElementType type) {
    Tensor tensor = graph_.tensors[like];
    tensor.name += "_" + std::string(to_string(type));
    tensor.type = type;
    tensor.role = Role::activation;
    tensor.is_quantized = true;
    graph_.tensors.push_back(std::move(tensor));
    producer_.push_back(no_index);
    readers_.emplace_back();
    is_output_.push_back(false);
    return graph_.tensors.size() - 1;
  }

  // At the end of the layers; the caller of this pass sorts them.
  std::size_t new_step(const Layer& model, TensorId read, TensorId written) {
    Layer step = model;
    step.standing = Standing::counted;
    step.inputs.front() = read;
    step.outputs = {written};
    std::get<Elementwise>(step.parts.front().op).elements =
        element_count(graph_.tensors[read].shape);
    graph_.layers.push_back(std::move(step));
    link(graph_.layers.size() - 1);
    return graph_.layers.size() - 1;
  }

  // --- down: readers dequantise themselves, or the step comes after them

  void move_down(std::size_t step) {
    const TensorId result = graph_.layers[step].outputs.front();
    const TensorId source = quantized(result);
    if (source == no_index) return;
    const Layer model = graph_.layers[step];
    for (const std::size_t reader : std::vector(readers_[result])) {
      if (!run_alike(step, reader)) continue;
      const Layer& layer = graph_.layers[reader];
      if (is_pointwise(layer) && !is_dequantize(layer) && keeps_residual_type(reader, result))
        replace_input(reader, result, source);
      else if (selects(graph_, layer) && layer.partly_moved.empty() &&
               std::all_of(layer.inputs.begin(), layer.inputs.end(),
                           [&](TensorId id) { return quantized(id) != no_index; }))
        dequantize_result(reader, model);
    }
  }

  // The layer moves quantised elements, and a step like the model follows it.
  void dequantize_result(std::size_t layer, const Layer& model) {
    const TensorId result = graph_.layers[layer].outputs.front();
    const TensorId inner = new_tensor(result, graph_.tensors[model.inputs.front()].type);
    read_quantized(layer);
    graph_.layers[layer].outputs = {inner};
    producer_[inner] = layer;
    compute_in_type_of(layer, inner);
    new_step(model, inner, result);
  }

  // A sum in the epilogue of a product reads a quantised residual only if its result is quantised.
  bool keeps_residual_type(std::size_t reader, TensorId residual) {
    const Layer& layer = graph_.layers[reader];
    const bool joins = std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
      return id != residual && follows_product(id);
    });
    return !joins || ends_quantized(reader);
  }

  // Whether a product makes a tensor, with element-wise layers between that alone read each other.
  bool follows_product(TensorId id) {
    for (Layer* before = maker(id);
         before != nullptr && only_reader(id) != no_index && !graph_.tensors[id].is_quantized;
         before = maker(id)) {
      if (has_product(*before)) return true;
      if (!is_pointwise(*before) && !is_folded_norm(*before)) return false;
      id = before->inputs.front();
    }
    return false;
  }

  bool ends_quantized(std::size_t layer) const {
    while (layer != no_index && is_pointwise(graph_.layers[layer])) {
      if (is_quantize(graph_.layers[layer])) return true;
      layer = only_reader(graph_.layers[layer].outputs.front());
    }
    return false;
  }

  Graph& graph_;
  std::vector<std::size_t> producer_;              // by tensor: the layer that writes it
  std::vector<std::vector<std::size_t>> readers_;  // by tensor
  std::vector<bool> is_output_;
};

Work work_of_steps(const Graph& graph, const OpWeights& weights) {
  Work work;
  for (const Layer& layer : graph.layers)
    if (takes_part(layer)) work += count_layer(graph, layer, weights);
  return work;
}

}  // namespace

bool quantize_tensors(Graph& graph, Runtime runtime, const OpWeights* weights,
                      std::vector<AppliedRule>* applied) {
  const bool moves_steps = runtime == Runtime::ideal || runtime == Runtime::tensorrt;
  if (!moves_steps && runtime != Runtime::onnxruntime) return false;
  if (std::none_of(graph.layers.begin(), graph.layers.end(), [](const Layer& layer) {
        const auto* step = elementwise_step(layer);
        return step != nullptr &&
               (step->function == Function::quantize || step->function == Function::dequantize);
      }))
    return false;
  Work before;
  if (applied != nullptr) before = work_of_steps(graph, *weights);
  TensorQuantizer::mark_quantized(graph);
  absorb_quantization(graph);  // once more: views between steps and products are gone
  TensorQuantizer(graph).run(!moves_steps);
  if (applied == nullptr) return true;
  const Work after = work_of_steps(graph, *weights);
  if (before != after)
    applied->push_back({"quantization", "", 1, total_bytes(before) - total_bytes(after),
                        total_flop(before) - total_flop(after),
                        total_integer_ops(before) - total_integer_ops(after)});
  return true;
}

}  // namespace ridgeline
