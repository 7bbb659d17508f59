// Adds layers; no operator is known here by its name.
#include "analyzer/torch/graph_builder.h"

#include <algorithm>
#include <utility>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"

namespace ridgeline::pytorch {
namespace {

// Products and random numbers are computed in every run, even from constants alone.
bool must_run(const Part& part) {
  const auto* step = std::get_if<Elementwise>(&part.op);
  if (step != nullptr &&
      (step->function == Function::random || step->function == Function::dropout))
    return true;
  return std::holds_alternative<Convolution>(part.op) || std::holds_alternative<MatMul>(part.op) ||
         std::holds_alternative<Attention>(part.op) || std::holds_alternative<Recurrent>(part.op) ||
         std::holds_alternative<Unknown>(part.op);
}

// The same elements, or some of them, perhaps in another order or type: still the same weight.
bool keeps_elements(const Layer& layer) {
  return std::all_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    const auto* step = std::get_if<Elementwise>(&part.op);
    return std::holds_alternative<View>(part.op) || std::holds_alternative<Copy>(part.op) ||
           std::holds_alternative<Gather>(part.op) ||
           (step != nullptr &&
            (step->function == Function::cast || step->function == Function::quantize ||
             step->function == Function::dequantize));
  });
}

std::string_view short_name(std::string_view op) {
  constexpr std::string_view home = "aten::";
  if (op.starts_with(home)) op.remove_prefix(home.size());
  return op;
}

}  // namespace

TensorId GraphBuilder::add_tensor(Tensor tensor, bool contiguous) {
  graph_.tensors.push_back(std::move(tensor));
  facts_.push_back({.contiguous = contiguous});
  return graph_.tensors.size() - 1;
}

TensorId GraphBuilder::add_weight(Tensor tensor, bool trainable) {
  tensor.role = Role::weight;
  tensor.stored = true;
  const TensorId id = add_tensor(std::move(tensor));
  facts_[id].constant = true;
  facts_[id].trainable = trainable;
  facts_[id].root = id;
  return id;
}

TensorId GraphBuilder::add_input(Tensor tensor) {
  tensor.role = Role::input;
  const TensorId id = add_tensor(std::move(tensor));
  graph_.inputs.push_back(id);
  return id;
}

std::size_t GraphBuilder::scope_of(std::string_view module) {
  if (module.empty()) return no_index;
  const auto found = scopes_.find(module);
  if (found != scopes_.end()) return found->second;
  graph_.modules.emplace_back(module);
  return scopes_.emplace(std::string(module), graph_.modules.size() - 1).first->second;
}

// The path of a module of torch.nn names the layer that does its work; other calls add the
// operator: "layer1.0.conv1", "layer1.0.add".
std::string GraphBuilder::layer_name(const CallSite& site, const Layer& layer) {
  std::string name(site.module);
  const bool moves_only = std::all_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    return std::holds_alternative<View>(part.op) || std::holds_alternative<Copy>(part.op);
  });
  if (!site.in_leaf || name.empty() || (moves_only && site.op != "aten::dropout") ||
      names_.contains(name)) {
    if (!name.empty()) name += '.';
    name += short_name(site.op);
    while (name.ends_with('_')) name.pop_back();
  }
  const int before = names_[name]++;
  if (before == 0) return name;
  // A module may be called like the numbered form of another layer.
  std::string numbered = name + "_" + std::to_string(before);
  for (int i = before + 1; names_.contains(numbered); ++i)
    numbered = name + "_" + std::to_string(i);
  names_[numbered] = 1;
  return numbered;
}

std::size_t GraphBuilder::add_call(const CallSite& site) {
  Call call(graph_, facts_, site);
  try {
    if (const Operator* row = find_operator(site.op))
      row->rule(call);
    else
      call.emit(Unknown{"no rule for this operator"});
  } catch (const CannotTranslate& cause) {
    call.parts_.clear();
    call.skipped_ = false;
    call.emit(Unknown{cause.reason});
  }
  if (call.skipped_) {
    for (const TensorId id : site.outputs)
      if (id != no_index) set_from_shapes(id);
    return no_index;
  }
  Layer layer;
  layer.inputs = call.data_inputs();
  layer.steering = call.steering_inputs();
  for (const TensorId id : site.outputs)
    if (id != no_index) layer.outputs.push_back(id);
  layer.parts = std::move(call.parts_);
  layer.partly_moved = std::move(call.partly_moved_);
  layer.origin = short_name(site.op);
  layer.repeats = site.repeats;
  layer.nested = site.nested;
  layer.scope = scope_of(site.module);
  layer.name = layer_name(site, layer);
  settle_outputs(call, layer, layer.inputs);
  mark_parameters(layer);
  graph_.layers.push_back(std::move(layer));
  return graph_.layers.size() - 1;
}

// Folded: depends on constants and shapes alone. Forms of a stored weight remember it.
void GraphBuilder::settle_outputs(const Call& call, Layer& layer,
                                  const std::vector<TensorId>& inputs) {
  // What is made from sizes alone is not a weight of the network.
  bool constant = !inputs.empty(), fixed = true;
  for (const TensorId id : inputs) {
    constant = constant && facts_[id].constant;
    fixed = fixed && (facts_[id].constant || facts_[id].from_shapes);
    layer.shapes = std::max(layer.shapes, graph_.tensors[id].source);
  }
  // The sizes of a steering input are known; its elements are not read.
  const bool folded =
      fixed && std::none_of(layer.parts.begin(), layer.parts.end(), must_run) && !call.bound_;
  if (folded) layer.standing = Standing::folded;
  for (const TensorId id : layer.outputs) {
    Tensor& tensor = graph_.tensors[id];
    if (call.bound_ && tensor.source < ShapeSource::bound) tensor.source = ShapeSource::bound;
    layer.shapes = std::max(layer.shapes, tensor.source);
    TensorFacts& facts = facts_[id];
    facts.constant = folded && constant;
    facts.from_shapes = folded && !constant;
    if (facts.constant) tensor.role = Role::weight;
    if (facts.constant && !inputs.empty() && facts_[inputs.front()].root != no_index &&
        (keeps_elements(layer) ||
         element_count(tensor.shape) == element_count(graph_.tensors[inputs.front()].shape)))
      facts.root = facts_[inputs.front()].root;
  }
}

// What a layer reads: parameters by the file's own word, even if it is folded; of all other
// constants that are read in a run, tables (masks, angles), but no single numbers and no running
// statistics.
void GraphBuilder::mark_parameters(const Layer& layer) {
  const auto* normalize =
      layer.parts.empty() ? nullptr : std::get_if<Normalize>(&layer.parts.front().op);
  const bool has_statistics = normalize != nullptr && normalize->kind == Normalization::batch;
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorId root = facts_[layer.inputs[i]].root;
    if (root == no_index) continue;
    Tensor& weight = graph_.tensors[root];
    if (facts_[root].trainable)
      weight.is_parameter = true;
    else if (layer.standing == Standing::counted && is_floating(weight.type) &&
             element_count(weight.shape) > 1 && !(has_statistics && i > 0))
      weight.is_table = true;
  }
}

void GraphBuilder::mark_alternative(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) graph_.layers[i].standing = Standing::alternative;
}

double GraphBuilder::flop_of_layers(std::size_t first, std::size_t last) const {
  double total = 0;
  for (std::size_t i = first; i < last; ++i)
    for (const Part& part : graph_.layers[i].parts)
      total += graph_.layers[i].repeats * total_operations(count_part(part, default_weights()));
  return total;
}

Graph GraphBuilder::finish(std::string name, std::vector<TensorId> outputs) {
  graph_.name = std::move(name);
  graph_.outputs = std::move(outputs);
  return std::move(graph_);
}

}  // namespace ridgeline::pytorch
