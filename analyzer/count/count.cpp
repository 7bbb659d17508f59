// The counting rules: arithmetic of each Op (MAC, FLOP per unit and dtype, transcendentals), and
// the bytes that a layer moves, from its tensors. docs/counting.md states them for users.
#include "analyzer/count/count.h"

#include <algorithm>
#include <cmath>

namespace ridgeline {
namespace {

// Amounts are doubles: exact to 2^53, and products beyond that lose digits but do not overflow.
double amount(std::int64_t value) { return static_cast<double>(value); }

double product(const Shape& shape) {
  double result = 1;
  for (const std::int64_t dimension : shape) result *= amount(dimension);
  return result;
}

// Integer products accumulate in 32 bits, where the bias is added.
DType accumulator(DType dtype) { return is_integer(dtype) ? DType::int32 : dtype; }

// Matrix units compute dot products of whole rows, and exist for these types only.
Unit product_unit(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int16 ? Unit::vector : Unit::matrix;
}

// With one filter per channel there is no dot product over channels. A single input channel with
// many filters still has one, over the taps.
bool is_depthwise(const Convolution& op) { return op.groups > 1 && op.in_channels == op.groups; }

class Arithmetic {
 public:
  Arithmetic(const Part& part, const OpWeights& weights) : part_(part), weights_(weights) {}

  Work count() {
    std::visit(*this, part_.op);
    return work_;
  }

  void operator()(const Convolution& op) {
    const double outputs = amount(op.batch) * amount(op.out_channels) * product(op.out_spatial);
    const double inputs = amount(op.batch) * amount(op.in_channels) * product(op.in_spatial);
    const double taps = product(op.kernel);
    const double groups = std::max(amount(op.groups), 1.0);
    const double macs = op.transposed ? inputs * (amount(op.out_channels) / groups) * taps
                                      : outputs * (amount(op.in_channels) / groups) * taps;
    multiply_accumulate(compute_unit(part_.op, part_.dtype), macs);
    if (op.bias) accumulate(outputs);
    if (op.deformable) {
      const double sampled = amount(op.batch) * amount(op.in_channels) * product(op.out_spatial);
      compute(sampled * taps * weights_.deformable_tap);
    }
  }

  void operator()(const MatMul& op) {
    const double outputs = amount(op.batch) * amount(op.m) * amount(op.n);
    multiply_accumulate(compute_unit(part_.op, part_.dtype), outputs * amount(op.k));
    accumulate(outputs * ((op.bias ? 1 : 0) + op.scalings));
  }

  void operator()(const Elementwise& op) {
    per_element(weights_.of(op.function), amount(op.elements));
  }

  void operator()(const Reduce& op) {
    const double in = amount(op.in_elements), out = amount(op.out_elements);
    const double combined = std::max(in - out, 0.0);
    compute(combined);
    switch (op.kind) {
      case Reduction::sum:
      case Reduction::max:
      case Reduction::min:
      case Reduction::product:
      case Reduction::arg:
        break;
      case Reduction::mean:
        compute(out);
        break;
      case Reduction::l1:
      case Reduction::sum_square:
        compute(in);
        break;
      case Reduction::l2:
        compute(in);
        per_element(weights_.of(Function::sqrt), out);
        break;
      case Reduction::log_sum:
        per_element(weights_.of(Function::log), out);
        break;
      case Reduction::log_sum_exp:  // the maximum is subtracted first and added at the end
        compute(combined + in + out);
        per_element(weights_.of(Function::exp), in);
        per_element(weights_.of(Function::log), out);
        break;
    }
  }

  void operator()(const Softmax& op) { per_element(weights_.softmax, amount(op.elements)); }

  void operator()(const Normalize& op) {
    const double elements = amount(op.elements);
    const double affine = op.affine ? weights_.affine : 0;
    switch (op.kind) {
      case Normalization::batch:
        if (!op.training) return compute(elements * weights_.batch_norm);
        compute(elements * weights_.batch_norm_training);
        break;
      case Normalization::layer:
      case Normalization::group:
      case Normalization::instance:
        compute(elements * (weights_.layer_norm + affine));
        break;
      case Normalization::mean_variance:
        compute(elements * weights_.layer_norm);
        break;
      case Normalization::rms:
        compute(elements * (weights_.rms_norm + affine / 2));
        break;
      case Normalization::lp:  // square, sum, divide
        compute(elements * 3);
        break;
      case Normalization::local_response:  // squares of the window summed; scale, bias, divide
        compute(elements * (amount(op.window) + 3));
        return per_element(weights_.of(Function::power), elements);
    }
    per_element(weights_.of(Function::sqrt), amount(op.rows));
  }

  void operator()(const Pool& op) {
    const double out = amount(op.out_elements), taps = amount(op.taps);
    switch (op.kind) {
      case Pooling::max:
        return compute(out * std::max(taps - 1, 0.0));
      case Pooling::average:  // taps − 1 additions and a division
        return compute(out * taps);
      case Pooling::lp:  // power and sum of the taps, then the root
        compute(out * (2 * taps - 1));
        return per_element(weights_.of(Function::sqrt), out);
    }
  }

  void operator()(const Attention& op) {
    const double scores =
        amount(op.batch) * amount(op.q_heads) * amount(op.q_length) * amount(op.kv_length);
    multiply_accumulate(compute_unit(part_.op, part_.dtype),
                        scores * (amount(op.qk_dimension) + amount(op.v_dimension)));
    per_element(weights_.softmax, scores);
    if (op.additive_mask) compute(scores);
  }

  void operator()(const Recurrent& op) {
    const double cells =
        amount(op.directions) * amount(op.steps) * amount(op.batch) * amount(op.hidden);
    const double gates = op.cell == Cell::lstm ? 4 : op.cell == Cell::gru ? 3 : 1;
    multiply_accumulate(compute_unit(part_.op, part_.dtype),
                        cells * gates * (amount(op.input) + amount(state_size(op))));
    if (op.projection > 0)
      multiply_accumulate(compute_unit(part_.op, part_.dtype), cells * amount(op.projection));
    if (op.bias) accumulate(cells * 2 * gates);  // bias of input and of recurrence
    const ElementCost& sigmoid = weights_.of(Function::sigmoid);
    const ElementCost& tanh = weights_.of(Function::tanh);
    switch (op.cell) {
      case Cell::lstm:  // c = f·c + i·g, h = o·tanh(c)
        per_element(sigmoid, 3 * cells);
        per_element(tanh, 2 * cells);
        compute(4 * cells);
        if (op.peepholes) compute(3 * 2 * cells);  // multiply and add for i, f and o
        return;
      case Cell::gru:  // h = (1 − z)·g + z·h, with r·h inside g
        per_element(sigmoid, 2 * cells);
        per_element(tanh, cells);
        return compute(5 * cells);
      case Cell::rnn:
        return per_element(tanh, cells);
    }
  }

  void operator()(const Scatter& op) {
    if (op.reduces) compute(amount(op.updates));
  }

  void operator()(const Resize& op) {
    if (op.kind == Interpolation::nearest || op.axes <= 0) return;
    const bool cubic = op.kind == Interpolation::cubic;
    const auto& table = cubic ? weights_.resize_cubic : weights_.resize_linear;
    const int axes = std::min(op.axes, 3);
    const double further = std::pow(cubic ? 4 : 2, op.axes - axes);
    const double samples = amount(op.out_elements) * amount(op.samples);
    compute(samples * table[static_cast<std::size_t>(axes)] * further);
    if (op.samples > 1) compute(samples);  // their mean
  }

  void operator()(const Sort& op) {
    const double depth = std::ceil(std::log2(std::max(amount(op.kept), 2.0)));
    compute(amount(op.rows) * amount(op.elements) * depth);
  }

  void operator()(const FourierTransform& op) {  // 5·n·log2(n), the convention of FFT libraries
    const double depth = std::ceil(std::log2(std::max(amount(op.length), 1.0)));
    const double all = 5 * amount(op.batch) * amount(op.length) * depth;
    compute(op.real ? all / 2 : all);
  }

  void operator()(const Described& op) {
    multiply_accumulate(compute_unit(part_.op, part_.dtype), op.macs);
    compute(op.flop);
  }

  void operator()(const Gather&) {}
  void operator()(const Copy&) {}
  void operator()(const View&) {}
  void operator()(const Unknown&) {}

 private:
  void multiply_accumulate(Unit unit, double macs) {
    work_.macs += macs;
    add(unit, part_.dtype, 2 * macs);
  }
  void accumulate(double operations) { add(Unit::vector, accumulator(part_.dtype), operations); }
  void compute(double operations) { add(Unit::vector, part_.dtype, operations); }
  void per_element(const ElementCost& cost, double elements) {
    compute(elements * cost.flop);
    work_.transcendentals += elements * cost.transcendentals;
  }
  void add(Unit unit, DType dtype, double operations) {
    if (operations > 0) add_flop(work_, unit, dtype, operations);
  }

  const Part& part_;
  const OpWeights& weights_;
  Work work_;
};

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

// Bytes of a tensor that the layer moves, all by default; nothing if unknown.
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

// Batch normalisation in training reads twice, once for sums over the batch: its input, and on the
// way back input and gradient.
int passes_over_input(const Graph& graph, const Layer& layer, std::size_t input) {
  const auto* normalize = part_of<Normalize>(layer);
  if (normalize == nullptr || normalize->kind != Normalization::batch || !normalize->training)
    return 1;
  if (layer.pass == Pass::forward || layer.pass == Pass::recompute) return input == 0 ? 2 : 1;
  return graph.tensors[layer.inputs[input]].role == Role::weight ? 1 : 2;
}

template <class Visit>
void for_each_read(const Graph& graph, const Layer& layer, const Visit& visit) {
  if (!has_work(layer) || !moves_data(layer)) return;
  const auto partly = elements_of_first_input(layer);
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorId id = layer.inputs[i];
    const double bytes = i == 0 && partly
                             ? storage_bytes(graph.tensors[id].type, *partly).value_or(0)
                             : moved_bytes(graph, layer, id).value_or(0);
    visit(TensorMove{id, passes_over_input(graph, layer, i) * bytes});
  }
}

template <class Visit>
void for_each_write(const Graph& graph, const Layer& layer, const Visit& visit) {
  if (!has_work(layer) || !moves_data(layer)) return;
  const auto* scatter = part_of<Scatter>(layer);
  for (const TensorId id : layer.outputs) {
    TensorMove move{id, moved_bytes(graph, layer, id).value_or(0)};
    // The output is a copy of the first input; the updates are written in addition.
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
  OpClass operator()(const Described&) const { return OpClass::other; }
  OpClass operator()(const Unknown&) const { return OpClass::other; }
};

}  // namespace

Work count_part(const Part& part, const OpWeights& weights) {
  return Arithmetic(part, weights).count();
}

Unit compute_unit(const Op& op, DType dtype) {
  if (const auto* convolution = std::get_if<Convolution>(&op))
    return is_depthwise(*convolution) ? Unit::vector : product_unit(dtype);
  const bool has_products =
      std::holds_alternative<MatMul>(op) || std::holds_alternative<Attention>(op) ||
      std::holds_alternative<Recurrent>(op) || std::holds_alternative<Described>(op);
  return has_products ? product_unit(dtype) : Unit::vector;
}

double causally_masked_macs(const Op& op) {
  const auto* attention = std::get_if<Attention>(&op);
  if (!attention || !attention->causal) return 0;
  // The last query sees all keys, each earlier one sees one key less.
  const double side = amount(std::min(attention->q_length, attention->kv_length));
  return amount(attention->batch) * amount(attention->q_heads) * side * (side - 1) / 2 *
         (amount(attention->qk_dimension) + amount(attention->v_dimension));
}

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

LayerCount layer_count(const Graph& graph, const Layer& layer, const OpWeights& weights) {
  LayerCount result;
  const bool counts = has_work(layer), is_single = layer.parts.size() == 1;
  double most = -1;
  if (is_single) result.main_part = 0;
  for (std::size_t i = 0; i < layer.parts.size() && (counts || !is_single); ++i) {
    Work work = count_part(layer.parts[i], weights);
    if (const double operations = total_operations(work); operations > most) {
      most = operations;
      result.main_part = i;
    }
    if (!counts) continue;
    if (i == 0)
      result.work = std::move(work);
    else
      result.work += work;
  }
  if (!counts) return result;
  add_bytes(result.work, graph, layer);
  if (layer.repeats != 1) multiply(result.work, layer.repeats);
  return result;
}

std::vector<LayerCount> count_layers(const Graph& graph, const OpWeights& weights) {
  std::vector<LayerCount> counts;
  counts.reserve(graph.layers.size());
  for (const Layer& layer : graph.layers) counts.push_back(layer_count(graph, layer, weights));
  return counts;
}

Work count_layer(const Graph& graph, const Layer& layer, const OpWeights& weights) {
  return layer_count(graph, layer, weights).work;
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
