// The Work of a whole layer: the arithmetic of its parts and the bytes of its tensors.
// What one Op computes is in arithmetic.cpp.
#include "analyzer/count/count.h"

#include <algorithm>

namespace ridgeline {
namespace {

template <class T>
const T* part_of(const Layer& layer) {
  for (const Part& part : layer.parts)
    if (const T* op = std::get_if<T>(&part.op)) return op;
  return nullptr;
}

bool moves_data(const Layer& layer) {
  return std::any_of(layer.parts.begin(), layer.parts.end(),
                     [](const Part& part) { return !std::holds_alternative<View>(part.op); });
}

// All bytes of a tensor, or those that the layer moves of it; nothing where nobody can tell.
std::optional<double> moved_bytes(const Graph& graph, const Layer& layer, TensorId id) {
  const Tensor& tensor = graph.tensors[id];
  const auto partly = std::find_if(layer.partly_moved.begin(), layer.partly_moved.end(),
                                   [id](const auto& entry) { return entry.first == id; });
  if (partly == layer.partly_moved.end()) return tensor_bytes(tensor);
  return storage_bytes(tensor.type, partly->second);
}

bool has_work(const Layer& layer) {
  return layer.standing != Standing::folded && layer.standing != Standing::absorbed;
}

// A batch normalisation that takes its statistics from the batch reads it for them, and then again.
int passes_over_first_input(const Layer& layer) {
  const auto* normalize = part_of<Normalize>(layer);
  const bool is_forward = layer.pass == Pass::forward || layer.pass == Pass::recompute;
  return normalize != nullptr && normalize->kind == Normalization::batch && normalize->training &&
                 is_forward
             ? 2
             : 1;
}

// Calls `visit` with each TensorMove.
template <class Visit>
void for_each_read(const Graph& graph, const Layer& layer, const Visit& visit) {
  if (!has_work(layer) || !moves_data(layer)) return;
  const auto partly = elements_of_first_input(layer);
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorId id = layer.inputs[i];
    const double bytes = i == 0 && partly
                             ? storage_bytes(graph.tensors[id].type, *partly).value_or(0)
                             : moved_bytes(graph, layer, id).value_or(0);
    visit(TensorMove{id, i == 0 ? passes_over_first_input(layer) * bytes : bytes});
  }
}

template <class Visit>
void for_each_write(const Graph& graph, const Layer& layer, const Visit& visit) {
  if (!has_work(layer) || !moves_data(layer)) return;
  const auto* scatter = part_of<Scatter>(layer);
  for (const TensorId id : layer.outputs) {
    TensorMove move{id, moved_bytes(graph, layer, id).value_or(0)};
    // The output is a copy of the first input, into which the updates are written once more.
    if (scatter != nullptr && id == layer.outputs.front())
      move.bytes += storage_bytes(graph.tensors[id].type, scatter->updates).value_or(0);
    visit(move);
  }
}

void add_bytes(Work& work, const Graph& graph, const Layer& layer) {
  for_each_read(graph, layer, [&](const TensorMove& move) {
    (graph.tensors[move.tensor].role == Role::weight ? work.weight_bytes_read : work.bytes_read) +=
        move.bytes;
  });
  for_each_write(graph, layer, [&](const TensorMove& move) {
    (graph.tensors[move.tensor].role == Role::weight ? work.weight_bytes_written
                                                     : work.bytes_written) += move.bytes;
  });
}

void multiply(Work& work, double factor) {
  for (FlopCount& entry : work.flop) entry.flop *= factor;
  for (double* amount : {&work.macs, &work.transcendentals, &work.bytes_read, &work.bytes_written,
                         &work.weight_bytes_read, &work.weight_bytes_written})
    *amount *= factor;
}

struct ClassOfOp {
  OpClass operator()(const Convolution&) const { return OpClass::convolution; }
  OpClass operator()(const MatMul&) const { return OpClass::matmul; }
  OpClass operator()(const Elementwise&) const { return OpClass::elementwise; }
  OpClass operator()(const Reduce&) const { return OpClass::reduce; }
  OpClass operator()(const Softmax&) const { return OpClass::softmax; }
  OpClass operator()(const Normalize&) const { return OpClass::normalize; }
  OpClass operator()(const Pool&) const { return OpClass::pool; }
  OpClass operator()(const Attention&) const { return OpClass::attention; }
  OpClass operator()(const Recurrent&) const { return OpClass::recurrent; }
  OpClass operator()(const Gather&) const { return OpClass::gather; }
  OpClass operator()(const Scatter&) const { return OpClass::gather; }
  OpClass operator()(const Resize&) const { return OpClass::resize; }
  OpClass operator()(const Sort&) const { return OpClass::other; }
  OpClass operator()(const FourierTransform&) const { return OpClass::other; }
  OpClass operator()(const Copy&) const { return OpClass::copy; }
  OpClass operator()(const View&) const { return OpClass::view; }
  OpClass operator()(const Unknown&) const { return OpClass::other; }
};

}  // namespace

std::optional<std::int64_t> elements_of_first_input(const Layer& layer) {
  if (const auto* gather = part_of<Gather>(layer)) return gather->elements;
  if (const auto* copy = part_of<Copy>(layer)) return copy->elements_read;
  return std::nullopt;
}

std::optional<double> tensor_bytes(const Tensor& tensor) {
  if (tensor.stored_bytes) return tensor.stored_bytes;
  if (tensor.source == ShapeSource::unknown) return std::nullopt;
  return storage_bytes(tensor.type, element_count(tensor.shape));
}

std::vector<TensorMove> layer_reads(const Graph& graph, const Layer& layer) {
  std::vector<TensorMove> moves;
  moves.reserve(layer.inputs.size());
  for_each_read(graph, layer, [&](const TensorMove& move) { moves.push_back(move); });
  return moves;
}

std::vector<TensorMove> layer_writes(const Graph& graph, const Layer& layer) {
  std::vector<TensorMove> moves;
  for_each_write(graph, layer, [&](const TensorMove& move) { moves.push_back(move); });
  return moves;
}

Work count_layer(const Graph& graph, const Layer& layer, const OpWeights& weights) {
  Work work;
  if (!has_work(layer)) return work;
  if (!layer.parts.empty()) work = count_part(layer.parts.front(), weights);
  for (std::size_t i = 1; i < layer.parts.size(); ++i) work += count_part(layer.parts[i], weights);
  add_bytes(work, graph, layer);
  if (layer.repeats != 1) multiply(work, layer.repeats);
  return work;
}

std::vector<TensorId> unsized_tensors(const Graph& graph, const Layer& layer) {
  std::vector<TensorId> found;
  if (!has_work(layer) || !moves_data(layer)) return found;
  for (const auto* ids : {&layer.inputs, &layer.outputs})
    for (const TensorId id : *ids)
      if (!moved_bytes(graph, layer, id)) found.push_back(id);
  return found;
}

OpClass op_class(const Op& op) { return std::visit(ClassOfOp{}, op); }

}  // namespace ridgeline
