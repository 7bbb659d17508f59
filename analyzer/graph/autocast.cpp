// Which operator runs in which type: PyTorch, "CUDA Ops that can autocast to float16" and "... to
// float32" (https://pytorch.org/docs/stable/amp.html).
#include "analyzer/graph/autocast.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace ridgeline {
namespace {

bool is_product(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return multiplies(part.op); });
}

bool computes_in_16_bits(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    return multiplies(part.op) && (part.dtype == DType::fp16 || part.dtype == DType::bf16);
  });
}

struct NeedsFp32 {
  bool operator()(const Normalize& op) const { return op.kind != Normalization::batch; }
  bool operator()(const Softmax&) const { return true; }
  bool operator()(const Reduce& op) const {
    return op.kind != Reduction::mean && op.kind != Reduction::max && op.kind != Reduction::min &&
           op.kind != Reduction::arg;
  }
  bool operator()(const Elementwise& op) const {
    switch (op.function) {
      case Function::exp:
      case Function::log:
      case Function::power:
      case Function::reciprocal:
      case Function::softplus:
        return true;
      default:
        return false;
    }
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool needs_fp32(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return std::visit(NeedsFp32{}, part.op); });
}

bool has_type(const Graph& graph, TensorId id, ElementType type) {
  return graph.tensors[id].type == type;
}

// Rewrites the layers in order; casts come before their readers and behind their makers.
class Casting {
 public:
  explicit Casting(Graph& graph) : graph_(graph), old_(std::exchange(graph.layers, {})) {
    graph.layers.reserve(old_.size());
  }

  template <class Rewrite>
  void each_layer(Rewrite rewrite) {
    for (Layer& layer : old_) {
      if (runs(layer)) rewrite(layer);
      graph_.layers.push_back(std::move(layer));
      for (Layer& cast : behind_) graph_.layers.push_back(std::move(cast));
      behind_.clear();
    }
  }

  // Inputs of type `from` become casts to `to`.
  void cast_inputs(Layer& layer, ElementType from, ElementType to) {
    for (std::size_t i = 0; i < layer.inputs.size(); ++i)
      if (const TensorId id = layer.inputs[i]; has_type(graph_, id, from))
        read_instead(layer, id, cast_of(layer, id, to));
  }

  // Outputs of type `from` are written in `to` and cast.
  void cast_outputs(Layer& layer, ElementType from, ElementType to) {
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      const TensorId id = layer.outputs[i];
      if (!has_type(graph_, id, from)) continue;
      const TensorId narrow = add_tensor(id, to);
      layer.outputs[i] = narrow;
      behind_.push_back(cast_layer(layer, narrow, id));
    }
  }

 private:
  TensorId add_tensor(TensorId like, ElementType type) {
    Tensor tensor;  // neither a parameter nor in the file
    tensor.name = graph_.tensors[like].name + ".cast";
    tensor.type = type;
    tensor.shape = graph_.tensors[like].shape;
    tensor.source = graph_.tensors[like].source;
    if (graph_.tensors[like].role == Role::weight) tensor.role = Role::weight;
    graph_.tensors.push_back(std::move(tensor));
    return graph_.tensors.size() - 1;
  }

  Layer cast_layer(const Layer& beside, TensorId from, TensorId to) const {
    Layer cast;
    cast.name = graph_.tensors[to].name;
    cast.origin = "Cast";
    const DType dtype = compute_dtype(graph_.tensors[to].type).value_or(DType::fp32);
    cast.parts = {{Elementwise{Function::cast, element_count(graph_.tensors[from].shape)}, dtype}};
    cast.inputs = {from};
    cast.outputs = {to};
    cast.module = beside.module;
    cast.scope = beside.scope;
    cast.repeats = beside.repeats;
    cast.pass = beside.pass;
    cast.shapes = beside.shapes;
    return cast;
  }

  // PyTorch keeps the casts of parameters until autocast ends, those of activations not at all.
  TensorId cast_of(const Layer& reader, TensorId id, ElementType type) {
    const bool is_kept = graph_.tensors[id].is_parameter;
    if (is_kept)
      if (const auto known = kept_.find(id); known != kept_.end()) return known->second;
    const TensorId cast = add_tensor(id, type);
    graph_.layers.push_back(cast_layer(reader, id, cast));
    if (is_kept) kept_.emplace(id, cast);
    return cast;
  }

  static void read_instead(Layer& layer, TensorId old, TensorId id) {
    std::replace(layer.inputs.begin(), layer.inputs.end(), old, id);
    for (auto& [moved, elements] : layer.partly_moved)
      if (moved == old) moved = id;
  }

  Graph& graph_;
  std::vector<Layer> old_;
  std::vector<Layer> behind_;
  std::unordered_map<TensorId, TensorId> kept_;
};

// The widest floating-point type that a layer reads. A single number does not widen a tensor.
ElementType widest_input(const Graph& graph, const Layer& layer, ElementType narrow) {
  const bool reads_fp32 = std::any_of(layer.inputs.begin(), layer.inputs.end(), [&](TensorId id) {
    return has_type(graph, id, ElementType::fp32) && element_count(graph.tensors[id].shape) > 1;
  });
  const bool reads_narrow = std::any_of(layer.inputs.begin(), layer.inputs.end(),
                                        [&](TensorId id) { return has_type(graph, id, narrow); });
  return reads_fp32 || !reads_narrow ? ElementType::fp32 : narrow;
}

// Statistics and parameters of a batch normalisation do not widen what it normalises.
bool follows_its_data(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(), [](const Part& part) {
    const auto* normalize = std::get_if<Normalize>(&part.op);
    return normalize != nullptr && normalize->kind == Normalization::batch;
  });
}

void write_in(Graph& graph, Layer& layer, ElementType type) {
  for (const TensorId id : layer.outputs)
    if (has_type(graph, id, ElementType::fp32)) graph.tensors[id].type = type;
  const DType dtype = compute_dtype(type).value_or(DType::fp32);
  for (Part& part : layer.parts)
    if (part.dtype == DType::fp32) part.dtype = dtype;
}

bool is_cast_of_parameter(const Graph& graph, const Layer& layer) {
  if (layer.parts.size() != 1 || layer.inputs.size() != 1 || layer.outputs.size() != 1)
    return false;
  const auto* step = std::get_if<Elementwise>(&layer.parts.front().op);
  const Tensor& from = graph.tensors[layer.inputs.front()];
  const ElementType to = graph.tensors[layer.outputs.front()].type;
  return step != nullptr && step->function == Function::cast && runs(layer) && from.is_parameter &&
         from.type == ElementType::fp32 && (to == ElementType::fp16 || to == ElementType::bf16);
}

}  // namespace

void autocast(Graph& graph, DType narrow) {
  const ElementType narrow_type = storage_type(narrow);
  for (Tensor& tensor : graph.tensors)  // caches hold what products wrote
    if (tensor.is_state && tensor.type == ElementType::fp32) tensor.type = narrow_type;
  Casting casting(graph);
  casting.each_layer([&](Layer& layer) {
    if (is_product(layer)) {
      casting.cast_inputs(layer, ElementType::fp32, narrow_type);
      write_in(graph, layer, narrow_type);
    } else if (needs_fp32(layer)) {
      casting.cast_inputs(layer, narrow_type, ElementType::fp32);
    } else if (follows_its_data(layer) && !layer.inputs.empty()) {
      write_in(graph, layer, graph.tensors[layer.inputs.front()].type);
    } else {
      write_in(graph, layer, widest_input(graph, layer, narrow_type));
    }
  });
}

void cast_operands(Graph& graph) {
  Casting casting(graph);
  casting.each_layer([&](Layer& layer) {
    if (!computes_in_16_bits(layer)) return;
    const bool is_bf16 = std::any_of(layer.parts.begin(), layer.parts.end(),
                                     [](const Part& part) { return part.dtype == DType::bf16; });
    const ElementType narrow = is_bf16 ? ElementType::bf16 : ElementType::fp16;
    casting.cast_inputs(layer, ElementType::fp32, narrow);
    casting.cast_outputs(layer, ElementType::fp32, narrow);
  });
}

bool read_parameters_uncast(Graph& graph) {
  std::unordered_map<TensorId, TensorId> itself;
  const auto is_removed = [&](const Layer& layer) {
    if (!is_cast_of_parameter(graph, layer)) return false;
    itself.emplace(layer.outputs.front(), layer.inputs.front());
    return true;
  };
  const auto end = std::remove_if(graph.layers.begin(), graph.layers.end(), is_removed);
  if (end == graph.layers.end()) return false;
  graph.layers.erase(end, graph.layers.end());
  for (Layer& layer : graph.layers) {
    for (TensorId& id : layer.inputs)
      if (const auto found = itself.find(id); found != itself.end()) id = found->second;
    for (auto& [id, elements] : layer.partly_moved)
      if (const auto found = itself.find(id); found != itself.end()) id = found->second;
  }
  return true;
}

}  // namespace ridgeline
