// What each Op computes: MAC, FLOP per unit and dtype, transcendentals. docs/counting.md states the
// rules for users. Bytes are in count.cpp: they follow from tensors, not from Ops.
#include <algorithm>
#include <cmath>

#include "analyzer/count/count.h"

namespace ridgeline {
namespace {

// Amounts are doubles: exact to 2^53, and beyond that no product can overflow.
double amount(std::int64_t value) { return static_cast<double>(value); }

double product(const Shape& shape) {
  double result = 1;
  for (const std::int64_t dimension : shape) result *= amount(dimension);
  return result;
}

// Integer products are summed in 32 bits, and that is where a bias is added.
DType accumulator(DType dtype) { return is_integer(dtype) ? DType::int32 : dtype; }

// Dot products of whole rows: what matrix units are for. Hardware has them for these types only.
Unit product_unit(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int16 ? Unit::vector : Unit::matrix;
}

// One filter per channel leaves no dot product over channels. A single input channel with many
// filters still is one, over the taps.
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
    multiply_accumulate(unit_of(part_.op, part_.dtype), macs);
    if (op.bias) accumulate(outputs);
    if (op.deformable) {
      const double sampled = amount(op.batch) * amount(op.in_channels) * product(op.out_spatial);
      compute(sampled * taps * weights_.deformable_tap);
    }
  }

  void operator()(const MatMul& op) {
    const double outputs = amount(op.batch) * amount(op.m) * amount(op.n);
    multiply_accumulate(unit_of(part_.op, part_.dtype), outputs * amount(op.k));
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
      case Reduction::log_sum_exp:  // the maximum is taken off first and added at the end
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
    multiply_accumulate(unit_of(part_.op, part_.dtype),
                        scores * (amount(op.qk_dimension) + amount(op.v_dimension)));
    per_element(weights_.softmax, scores);
    if (op.additive_mask) compute(scores);
  }

  void operator()(const Recurrent& op) {
    const double cells =
        amount(op.directions) * amount(op.steps) * amount(op.batch) * amount(op.hidden);
    const double gates = op.cell == Cell::lstm ? 4 : op.cell == Cell::gru ? 3 : 1;
    multiply_accumulate(unit_of(part_.op, part_.dtype),
                        cells * gates * (amount(op.input) + amount(op.hidden)));
    if (op.bias) accumulate(cells * 2 * gates);  // of input and of recurrence
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

  void operator()(const FourierTransform& op) {  // 5·n·log2(n), as FFT libraries state their rate
    const double depth = std::ceil(std::log2(std::max(amount(op.length), 1.0)));
    const double all = 5 * amount(op.batch) * amount(op.length) * depth;
    compute(op.real ? all / 2 : all);
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

}  // namespace

Work count_part(const Part& part, const OpWeights& weights) {
  return Arithmetic(part, weights).count();
}

Unit unit_of(const Op& op, DType dtype) {
  if (const auto* convolution = std::get_if<Convolution>(&op))
    return is_depthwise(*convolution) ? Unit::vector : product_unit(dtype);
  const bool has_products = std::holds_alternative<MatMul>(op) ||
                            std::holds_alternative<Attention>(op) ||
                            std::holds_alternative<Recurrent>(op);
  return has_products ? product_unit(dtype) : Unit::vector;
}

double causally_masked_macs(const Op& op) {
  const auto* attention = std::get_if<Attention>(&op);
  if (!attention || !attention->causal) return 0;
  // The last query sees all keys, each one before it one key less.
  const double side = amount(std::min(attention->q_length, attention->kv_length));
  return amount(attention->batch) * amount(attention->q_heads) * side * (side - 1) / 2 *
         (amount(attention->qk_dimension) + amount(attention->v_dimension));
}

}  // namespace ridgeline
