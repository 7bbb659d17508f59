// Backward rules. MACs of products are exact: each gradient costs as much as the forward product.
// Element-wise steps are one or two operations on the saved tensor and the incoming gradient.
#include "analyzer/training/gradients.h"

#include <limits>
#include <utility>

namespace ridgeline {
namespace {

// Factors of a convolution or matrix product: data and weights, without the bias.
constexpr std::size_t two_factors = 2;
constexpr std::size_t all_factors = std::numeric_limits<std::size_t>::max();

Op pointwise(Function function, std::int64_t elements) { return Elementwise{function, elements}; }

struct GradientOf {
  const GradientInputs& inputs;

  Gradient operator()(const Convolution& op) const {
    // Gradient of the input: the same taps, transposed. Gradient of the weights: one product over
    // all positions per group.
    Convolution data = op;
    data.transposed = !op.transposed;
    data.bias = false;
    std::swap(data.in_channels, data.out_channels);
    std::swap(data.in_spatial, data.out_spatial);
    const std::int64_t groups = op.groups < 1 ? 1 : op.groups;
    const std::int64_t positions =
        op.transposed ? element_count(op.in_spatial) : element_count(op.out_spatial);
    MatMul weights;
    weights.batch = groups;
    weights.m = op.out_channels / groups;
    weights.n = op.in_channels / groups * element_count(op.kernel);
    weights.k = op.batch * positions;
    weights.taps = element_count(op.kernel);
    Gradient gradient;
    if (inputs.activations > 1)  // the weights are computed, too
      gradient.data = {{data}, {weights}};
    else
      gradient.data = {{data}}, gradient.weights = {weights};
    if (op.bias)
      gradient.weights.emplace_back(
          Reduce{Reduction::sum, op.batch * op.out_channels * element_count(op.out_spatial),
                 op.out_channels});
    gradient.factors = two_factors;
    return gradient;
  }

  Gradient operator()(const MatMul& op) const {
    const MatMul left{op.batch, op.m, op.k, op.n, false, op.scalings, 0};
    const MatMul right{op.batch, op.k, op.n, op.m, false, op.scalings, 0};
    Gradient gradient;
    gradient.factors = two_factors;
    if (inputs.activations > 1) {
      gradient.data = {{left}, {right}};
    } else {
      gradient.data = {{inputs.weight_is_first ? right : left}};
      gradient.weights = {inputs.weight_is_first ? left : right};
    }
    if (op.bias)
      gradient.weights.emplace_back(Reduce{Reduction::sum, op.batch * op.m * op.n, op.n});
    return gradient;
  }

  Gradient operator()(const Elementwise& op) const {
    Gradient gradient;
    switch (op.function) {
      case Function::add:
      case Function::subtract:
      case Function::accumulate:
      case Function::cast:
        gradient.passes_through = true;
        gradient.weights = {Reduce{Reduction::sum, op.elements, 1}};
        gradient.weights_read_inputs = false;
        return gradient;
      case Function::multiply:
      case Function::divide:
        for (std::size_t i = 0; i < inputs.count; ++i)
          gradient.data.push_back({pointwise(Function::multiply, op.elements)});
        // The gradient of a quotient by an activation reads both operands.
        if (op.function == Function::multiply ||
            (inputs.activations == 1 && !inputs.weight_is_first))
          gradient.factors = all_factors;
        else
          gradient.data_reads = reads::inputs;
        return gradient;
      case Function::power:
        gradient.data = {{pointwise(Function::power, op.elements),
                          pointwise(Function::multiply, op.elements),
                          pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::inputs;
        return gradient;
      case Function::relu:
      case Function::leaky_relu:
      case Function::dropout:
        gradient.data = {{pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::outputs;
        return gradient;
      case Function::where:
        gradient.data = {{pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::conditions;
        return gradient;
      case Function::clip:
      case Function::minimum:
      case Function::maximum:
      case Function::absolute:
        gradient.data = {{pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::inputs;
        return gradient;
      case Function::negate:
        gradient.data = {{pointwise(Function::negate, op.elements)}};
        return gradient;
      case Function::rotary_embedding:
        // Rotates back by the same angles.
        gradient.data = {{pointwise(op.function, op.elements)}};
        gradient.data_reads = reads::weights;
        return gradient;
      case Function::sigmoid:
      case Function::tanh:
      case Function::exp:
      case Function::sqrt:
      case Function::reciprocal:
        // The derivative follows from the output in two operations.
        gradient.data = {{pointwise(Function::multiply, op.elements),
                          pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::outputs;
        return gradient;
      case Function::compare:
      case Function::logical:
      case Function::bitwise:
      case Function::sign:
      case Function::round:
      case Function::random:
      case Function::quantize:
      case Function::dequantize:
        gradient.known = false;
        return gradient;
      default:
        // Evaluates the function again for its derivative, then multiplies.
        gradient.data = {
            {pointwise(op.function, op.elements), pointwise(Function::multiply, op.elements)}};
        gradient.data_reads = reads::inputs;
        return gradient;
    }
  }

  Gradient operator()(const Reduce& op) const {
    Gradient gradient;
    if (op.kind == Reduction::sum)  // the same number for every summand
      gradient.data = {{View{}}};
    else
      gradient.data = {{pointwise(Function::multiply, op.in_elements)}};
    if (op.kind != Reduction::sum && op.kind != Reduction::mean)
      gradient.data_reads = reads::inputs;
    return gradient;
  }

  Gradient operator()(const Softmax& op) const {
    // y · (dy − Σ dy·y)
    Gradient gradient;
    gradient.data = {
        {pointwise(Function::multiply, op.elements), Reduce{Reduction::sum, op.elements, 0},
         pointwise(Function::subtract, op.elements), pointwise(Function::multiply, op.elements)}};
    gradient.data_reads = reads::outputs;
    return gradient;
  }

  Gradient operator()(const Normalize& op) const {
    if (op.kind == Normalization::batch && !op.training) return of_scale_and_shift(op);
    // Two sums over each row and a combination of three terms: about one forward pass, plus the
    // gradients of scale and shift.
    Gradient gradient;
    gradient.data = {{op, pointwise(Function::multiply, op.elements),
                      pointwise(Function::subtract, op.elements)}};
    if (op.affine)
      gradient.weights = {pointwise(Function::multiply, op.elements),
                          Reduce{Reduction::sum, 2 * op.elements, 0}};
    gradient.data_reads = reads::inputs | reads::weights | reads::kept;
    gradient.joint = true;
    return gradient;
  }

  // With fixed statistics only the scale's own gradient reads the input again.
  static Gradient of_scale_and_shift(const Normalize& op) {
    Gradient gradient;
    gradient.data = {{pointwise(Function::multiply, op.elements)}};
    gradient.weights = {pointwise(Function::multiply, op.elements),
                        Reduce{Reduction::sum, 2 * op.elements, 0}};
    gradient.data_reads = reads::weights;
    return gradient;
  }

  Gradient operator()(const Pool& op) const {
    Gradient gradient;
    gradient.data = {{pointwise(Function::accumulate,
                                op.out_elements * (op.kind == Pooling::max ? 1 : op.taps))}};
    gradient.data_reads = reads::sizes;
    if (op.kind == Pooling::max) gradient.data_reads |= reads::kept;
    if (op.kind == Pooling::lp) gradient.data_reads |= reads::inputs;
    return gradient;
  }

  Gradient operator()(const Attention& op) const {
    // Scores are recomputed, not saved: five products instead of the forward pass's two.
    const std::int64_t batch = op.batch * op.q_heads;
    const MatMul scores{batch, op.q_length, op.kv_length, op.qk_dimension, false, 0, 0};
    const MatMul to_values{batch, op.kv_length, op.v_dimension, op.q_length, false, 0, 0};
    const MatMul to_scores{batch, op.q_length, op.kv_length, op.v_dimension, false, 0, 0};
    const MatMul to_queries{batch, op.q_length, op.qk_dimension, op.kv_length, false, 0, 0};
    const MatMul to_keys{batch, op.kv_length, op.qk_dimension, op.q_length, false, 0, 0};
    const std::int64_t elements = batch * op.q_length * op.kv_length;
    Gradient gradient;
    gradient.data = {{scores, Softmax{elements, false}, to_values, to_scores,
                      pointwise(Function::multiply, elements), Reduce{Reduction::sum, elements, 0},
                      pointwise(Function::subtract, elements), to_queries, to_keys}};
    gradient.data_reads = reads::inputs | reads::outputs | reads::kept;
    return gradient;
  }

  Gradient operator()(const Recurrent& op) const {
    constexpr std::int64_t gates[] = {4, 3, 1};
    Recurrent data = op;
    data.bias = false;
    MatMul weights;
    weights.batch = op.directions;
    weights.m = gates[static_cast<int>(op.cell)] * op.hidden;
    weights.n = op.input + state_size(op);
    weights.k = op.steps * op.batch;
    Gradient gradient;
    gradient.data = {{data}};
    gradient.weights = {weights};
    if (op.projection > 0)
      gradient.weights.push_back(
          MatMul{op.directions, op.projection, op.hidden, op.steps * op.batch, false, 0, 0});
    gradient.data_reads = reads::outputs | reads::weights;
    return gradient;
  }

  Gradient operator()(const Gather& op) const {
    Gradient gradient;
    gradient.data = {{Scatter{op.elements, true}}};
    gradient.weights = {Scatter{op.elements, true}};
    gradient.data_reads = reads::conditions;  // the indices
    return gradient;
  }

  Gradient operator()(const Resize& op) const {
    Gradient gradient;
    gradient.data = {{op}};
    return gradient;
  }

  Gradient operator()(const Copy&) const {
    Gradient gradient;
    gradient.data = {{Copy{}}};
    return gradient;
  }

  Gradient operator()(const View&) const {
    Gradient gradient;
    gradient.passes_through = true;
    return gradient;
  }

  template <class T>
  Gradient operator()(const T&) const {
    Gradient gradient;
    gradient.known = false;
    return gradient;
  }
};

struct KeptFor {
  std::optional<KeptTensor> operator()(const Pool& op) const {
    if (op.kind != Pooling::max) return std::nullopt;
    return KeptTensor{"indices", ElementType::int64, {op.out_elements}};
  }
  std::optional<KeptTensor> operator()(const Normalize& op) const {
    // PyTorch decomposes it and saves the normalised tensor, a factor of the scale's gradient.
    if (op.kind == Normalization::rms) return KeptTensor{"normalized", {}, {op.elements}};
    const bool has_two = op.kind == Normalization::layer || op.kind == Normalization::group ||
                         op.kind == Normalization::instance ||
                         (op.kind == Normalization::batch && op.training);
    if (!has_two) return std::nullopt;
    return KeptTensor{"statistics", ElementType::fp32, {2, op.rows}};
  }
  std::optional<KeptTensor> operator()(const Attention& op) const {
    return KeptTensor{"sums", ElementType::fp32, {op.batch, op.q_heads, op.q_length}};
  }
  template <class T>
  std::optional<KeptTensor> operator()(const T&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<KeptTensor> kept_for_gradient(const Op& op) { return std::visit(KeptFor{}, op); }

Gradient gradient_rule(const Op& op, const GradientInputs& inputs) {
  return std::visit(GradientOf{inputs}, op);
}

}  // namespace ridgeline
