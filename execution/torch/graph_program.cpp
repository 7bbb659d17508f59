// One function object per layer, chosen by its Op. What a Graph does not keep is inferred from
// shapes (execution/inferred_parameters.h); a copy in an order that cannot be inferred is made in
// the order of memory, and noted.
#include "execution/torch/graph_program.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "execution/inferred_parameters.h"
#include "execution/torch/torch_call.h"

namespace ridgeline::torch_module {
namespace {

using Inputs = std::vector<at::Tensor>;
using LayerFunction = std::function<Inputs(const Inputs&)>;

// A layer that cannot be executed, and why.
struct Unsupported {
  std::string reason;
};

std::optional<at::ScalarType> scalar_type(ElementType type) {
  switch (type) {
    case ElementType::fp64:
      return at::kDouble;
    case ElementType::fp32:
      return at::kFloat;
    case ElementType::fp16:
      return at::kHalf;
    case ElementType::bf16:
      return at::kBFloat16;
    case ElementType::int64:
      return at::kLong;
    case ElementType::int32:
      return at::kInt;
    case ElementType::int16:
      return at::kShort;
    case ElementType::int8:
      return at::kChar;
    case ElementType::uint8:
      return at::kByte;
    case ElementType::boolean:
      return at::kBool;
    default:
      return std::nullopt;
  }
}

bool is_float(ElementType type) {
  return type == ElementType::fp64 || type == ElementType::fp32 || type == ElementType::fp16 ||
         type == ElementType::bf16;
}

std::string shape_text(at::IntArrayRef shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

Inputs one(at::Tensor tensor) { return {std::move(tensor)}; }

// Undefined where there is none; LibTorch's optional type differs by version.
at::Tensor input_or_none(const Inputs& in, std::size_t i) {
  return i < in.size() ? in[i] : at::Tensor();
}

at::Tensor second_or_first(const Inputs& in) { return in.size() > 1 ? in[1] : in[0]; }

// --- element by element

using Unary = at::Tensor (*)(const at::Tensor&);
using UnaryInPlace = void (*)(at::Tensor&);

struct UnaryRow {
  Function function;
  Unary make;
  UnaryInPlace in_place;  // where torchvision's modules use it
};

const UnaryRow unary_rows[] = {
    {Function::relu, [](const at::Tensor& x) { return at::relu(x); },
     [](at::Tensor& x) { at::relu_(x); }},
    // relu6
    {Function::clip, [](const at::Tensor& x) { return at::hardtanh(x, 0, 6); },
     [](at::Tensor& x) { at::hardtanh_(x, 0, 6); }},
    {Function::hard_swish, [](const at::Tensor& x) { return at::hardswish(x); },
     [](at::Tensor& x) { at::hardswish_(x); }},
    {Function::swish, [](const at::Tensor& x) { return at::silu(x); },
     [](at::Tensor& x) { at::silu_(x); }},
    {Function::leaky_relu, [](const at::Tensor& x) { return at::leaky_relu(x, 0.1); },
     [](at::Tensor& x) { at::leaky_relu_(x, 0.1); }},
    {Function::hard_sigmoid, [](const at::Tensor& x) { return at::hardsigmoid(x); }, nullptr},
    {Function::sigmoid, [](const at::Tensor& x) { return at::sigmoid(x); }, nullptr},
    {Function::tanh, [](const at::Tensor& x) { return at::tanh(x); }, nullptr},
    {Function::gelu, [](const at::Tensor& x) { return at::gelu(x); }, nullptr},
    {Function::gelu_tanh, [](const at::Tensor& x) { return at::gelu(x, "tanh"); }, nullptr},
    {Function::elu, [](const at::Tensor& x) { return at::elu(x); }, nullptr},
    {Function::mish, [](const at::Tensor& x) { return at::mish(x); }, nullptr},
    {Function::softplus, [](const at::Tensor& x) { return at::softplus(x); }, nullptr},
    {Function::softsign, [](const at::Tensor& x) { return x / (x.abs() + 1); }, nullptr},
    {Function::erf, [](const at::Tensor& x) { return at::erf(x); }, nullptr},
    {Function::negate, [](const at::Tensor& x) { return at::neg(x); }, nullptr},
    {Function::absolute, [](const at::Tensor& x) { return at::abs(x); }, nullptr},
    {Function::sign, [](const at::Tensor& x) { return at::sign(x); }, nullptr},
    {Function::round, [](const at::Tensor& x) { return at::round(x); }, nullptr},
    {Function::reciprocal, [](const at::Tensor& x) { return at::reciprocal(x); }, nullptr},
    {Function::sqrt, [](const at::Tensor& x) { return at::sqrt(at::abs(x)); }, nullptr},
    {Function::exp, [](const at::Tensor& x) { return at::exp(x); }, nullptr},
    {Function::log, [](const at::Tensor& x) { return at::log(at::abs(x)); }, nullptr},
    {Function::trigonometric, [](const at::Tensor& x) { return at::sin(x); }, nullptr},
    {Function::hyperbolic, [](const at::Tensor& x) { return at::sinh(x); }, nullptr},
};

using Binary = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

struct BinaryRow {
  Function function;
  Binary make;
};

const BinaryRow binary_rows[] = {
    {Function::add, [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }},
    {Function::subtract, [](const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }},
    {Function::multiply, [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }},
    {Function::divide, [](const at::Tensor& a, const at::Tensor& b) { return at::div(a, b); }},
    {Function::power,
     [](const at::Tensor& a, const at::Tensor& b) { return at::pow(at::abs(a), b); }},
    {Function::minimum, [](const at::Tensor& a, const at::Tensor& b) { return at::minimum(a, b); }},
    {Function::maximum, [](const at::Tensor& a, const at::Tensor& b) { return at::maximum(a, b); }},
    {Function::compare, [](const at::Tensor& a, const at::Tensor& b) { return at::gt(a, b); }},
    {Function::logical,
     [](const at::Tensor& a, const at::Tensor& b) { return at::logical_and(a, b); }},
};

// (cos · x) + (sin · x turned by half)
at::Tensor rotary(const Inputs& in) {
  const at::Tensor& x = in[0];
  const auto halves = x.chunk(2, -1);
  const at::Tensor turned = at::cat({-halves[1], halves[0]}, -1);
  const auto fits = [&](const at::Tensor& table) {
    return table.is_floating_point() && table.dim() > 0 && table.size(-1) == x.size(-1);
  };
  if (in.size() > 2 && fits(in[1]) && fits(in[2])) return x * in[1] + turned * in[2];
  return x * 0.8 + turned * 0.6;
}

// --- the translation of one layer

class LayerTranslator {
 public:
  LayerTranslator(const Graph& graph, const Layer& layer, bool trains, bool in_place,
                  std::vector<std::string>& in_memory_order)
      : graph_(graph),
        layer_(layer),
        trains_(trains),
        in_place_(in_place),
        in_memory_order_(in_memory_order) {}

  LayerFunction translate(std::vector<LearnedTensor>& hidden) {
    hidden_ = &hidden;
    if (layer_.repeats != 1) throw Unsupported{"is in a loop"};
    if (layer_.parts.empty()) return [](const Inputs& in) { return one(in.at(0)); };
    if (layer_.parts.size() > 1) throw Unsupported{"computes in several parts"};
    if (layer_.inputs.empty()) throw Unsupported{"has no input"};
    if (layer_.outputs.empty()) throw Unsupported{"has no output"};
    return std::visit([this](const auto& op) { return make(op); }, layer_.parts.front().op);
  }

 private:
  const Shape& in_shape(std::size_t i = 0) const {
    return graph_.tensors[layer_.inputs.at(i)].shape;
  }
  const Shape& out_shape(std::size_t i = 0) const {
    return graph_.tensors[layer_.outputs.at(i)].shape;
  }
  bool is_weight(std::size_t i) const {
    return i < layer_.inputs.size() && graph_.tensors[layer_.inputs[i]].role == Role::weight;
  }
  at::ScalarType out_type() const {
    const auto type = scalar_type(graph_.tensors[layer_.outputs.at(0)].type);
    if (!type) throw Unsupported{"has a type that LibTorch lacks"};
    return *type;
  }

  // --- products

  LayerFunction make(const Convolution& op) {
    if (op.deformable) throw Unsupported{"is deformable"};
    if (layer_.inputs.size() < 2) throw Unsupported{"has no weight"};
    if (op.transposed) return transposed(op);
    std::vector<std::int64_t> stride, padding, explicit_padding;
    bool even = true;
    for (std::size_t axis = 0; axis < op.kernel.size(); ++axis) {
      const auto window = window_axis(op.in_spatial[axis], op.kernel[axis], op.out_spatial[axis],
                                      op.kernel[axis] * 32);
      if (!window) throw Unsupported{"has a stride that does not follow from its shapes"};
      stride.push_back(window->stride);
      padding.push_back(window->before);
      explicit_padding.insert(explicit_padding.begin(), {window->before, window->after});
      even = even && window->before == window->after;
    }
    const std::vector<std::int64_t> dilation(stride.size(), 1), none(stride.size(), 0);
    const std::int64_t groups = op.groups;
    const bool flat = stride.size() == 2;
    return [=](const Inputs& in) {
      const auto bias = input_or_none(in, 2);
      const at::Tensor x = even ? in[0] : at::constant_pad_nd(in[0], explicit_padding);
      const auto& pad = even ? padding : none;
      if (flat) return one(at::conv2d(x, in[1], bias, stride, pad, dilation, groups));
      return one(at::convolution(x, in[1], bias, stride, pad, dilation, false, none, groups));
    };
  }

  LayerFunction transposed(const Convolution& op) {
    std::vector<std::int64_t> stride, padding, more;
    for (std::size_t axis = 0; axis < op.kernel.size(); ++axis) {
      const auto window =
          transposed_axis(op.in_spatial[axis], op.kernel[axis], op.out_spatial[axis]);
      if (!window) throw Unsupported{"has a stride that does not follow from its shapes"};
      stride.push_back(window->stride);
      padding.push_back(window->before);
      more.push_back(window->before - window->after);  // output padding
      if (more.back() < 0 || more.back() >= window->stride)
        throw Unsupported{"has a padding that LibTorch lacks"};
    }
    const std::vector<std::int64_t> dilation(stride.size(), 1);
    const std::int64_t groups = op.groups;
    return [=](const Inputs& in) {
      const auto bias = input_or_none(in, 2);
      return one(
          at::convolution(in[0], in[1], bias, stride, padding, dilation, true, more, groups));
    };
  }

  LayerFunction make(const MatMul& op) {
    const std::size_t b = layer_.inputs.size() > 1 ? 1 : 0;
    const Shape& right = in_shape(b);
    const std::int64_t n = op.n, k = op.k;
    const bool turned_left = in_shape().size() == 2 && in_shape().back() != k;
    if (right.size() == 2 && right[0] == n && right[1] == k && (n != k || is_weight(b)) &&
        !turned_left)
      return [b](const Inputs& in) { return one(at::linear(in[0], in[b], input_or_none(in, 2))); };
    const bool turned_right = right.size() > 1 && right.back() != n && right[right.size() - 2] == n;
    const bool flat = in_shape().size() == 2 && right.size() == 2;
    return [=](const Inputs& in) {
      const at::Tensor left = turned_left ? in[0].t() : in[0];
      const at::Tensor by = turned_right ? in[b].transpose(-1, -2) : in[b];
      if (in.size() > 2 && flat) return one(at::addmm(in[2], left, by));
      const at::Tensor result = at::matmul(left, by);
      return one(in.size() > 2 ? result + in[2] : result);
    };
  }

  // Weights of its own: files and modules lay them out in many ways.
  LayerFunction make(const Recurrent& op) {
    if (op.peepholes) throw Unsupported{"has peepholes"};
    const std::int64_t state = state_size(op);
    const std::int64_t gates = op.cell == Cell::lstm ? 4 : op.cell == Cell::gru ? 3 : 1;
    const auto options = at::TensorOptions(out_type());
    std::vector<at::Tensor> weights;
    for (std::int64_t direction = 0; direction < op.directions; ++direction) {
      weights.push_back(at::randn({gates * op.hidden, op.input}, options) * 0.05);
      weights.push_back(at::randn({gates * op.hidden, state}, options) * 0.05);
      if (op.bias)
        for (int i = 0; i < 2; ++i) weights.push_back(at::zeros({gates * op.hidden}, options));
      if (op.projection > 0) weights.push_back(at::randn({state, op.hidden}, options) * 0.05);
    }
    if (trains_)
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i].set_requires_grad(true);
        hidden_->push_back({fmt::format("{}.weight_{}", layer_.name, i), weights[i]});
      }
    const at::Tensor start = at::zeros({op.directions, op.batch, state}, options);
    const at::Tensor cells = at::zeros({op.directions, op.batch, op.hidden}, options);
    const std::vector<std::int64_t> in_sizes{op.steps, op.batch, op.input};
    const bool bias = op.bias, both = op.directions == 2, trains = trains_;
    const Cell cell = op.cell;
    return [=](const Inputs& in) -> Inputs {
      const at::Tensor x = in[0].reshape(in_sizes);
      if (cell == Cell::lstm) {
        const auto [y, h, c] =
            at::lstm(x, {start, cells}, weights, bias, 1, 0.0, trains, both, false);
        return {y, h, c};
      }
      const auto [y, h] = cell == Cell::gru
                              ? at::gru(x, start, weights, bias, 1, 0.0, trains, both, false)
                              : at::rnn_tanh(x, start, weights, bias, 1, 0.0, trains, both, false);
      return {y, h};
    };
  }

  // As eager code computes it; LibTorch has one operator for it from 2.0 on.
  LayerFunction make(const Attention& op) {
    const std::int64_t q_width = op.q_heads * op.qk_dimension,
                       k_width = op.kv_heads * op.qk_dimension;
    const std::int64_t v_width = op.kv_heads * op.v_dimension;
    const bool packed =
        layer_.inputs.size() == 1 || in_shape().back() == q_width + k_width + v_width;
    if (!packed && layer_.inputs.size() < 3) throw Unsupported{"has an unknown arrangement"};
    if (op.q_heads % op.kv_heads != 0) throw Unsupported{"has an unknown arrangement"};
    const std::int64_t key_elements = packed ? 0 : element_count(in_shape(1));
    const bool has_past =
        !packed && layer_.inputs.size() >= 5 && key_elements < op.batch * op.kv_length * k_width;
    const at::Tensor causal = op.causal ? at::full({op.q_length, op.kv_length}, -1e4)
                                              .to(out_type())
                                              .triu(op.kv_length - op.q_length + 1)
                                        : at::Tensor();
    return [=, op = op](const Inputs& in) {
      const auto heads_of = [&](const at::Tensor& x, std::int64_t heads, std::int64_t width) {
        return x.reshape({op.batch, -1, heads, width}).transpose(1, 2);
      };
      std::vector<at::Tensor> parts;
      if (packed)
        parts =
            at::split_with_sizes(in[0], std::vector<std::int64_t>{q_width, k_width, v_width}, -1);
      else
        parts = {in[0], in[1], in[2]};
      const at::Tensor q = heads_of(parts[0], op.q_heads, op.qk_dimension);
      at::Tensor k = heads_of(parts[1], op.kv_heads, op.qk_dimension);
      at::Tensor v = heads_of(parts[2], op.kv_heads, op.v_dimension);
      std::size_t next = packed ? 1 : 3;
      if (has_past) {
        k = at::cat({in[3].reshape({op.batch, op.kv_heads, -1, op.qk_dimension}), k}, -2);
        v = at::cat({in[4].reshape({op.batch, op.kv_heads, -1, op.v_dimension}), v}, -2);
        next = 5;
      }
      if (op.kv_heads != op.q_heads) {
        k = k.repeat_interleave(op.q_heads / op.kv_heads, 1);
        v = v.repeat_interleave(op.q_heads / op.kv_heads, 1);
      }
      const double scale = 1 / std::sqrt(static_cast<double>(op.qk_dimension));
#if __has_include(<ATen/ops/scaled_dot_product_attention.h>)
      if (next >= in.size())
        return one(at::scaled_dot_product_attention(q, k, v, {}, 0.0, op.causal)
                       .transpose(1, 2)
                       .reshape({op.batch, op.q_length, op.q_heads * op.v_dimension}));
#endif
      at::Tensor scores = at::matmul(q, k.transpose(-1, -2)) * scale;
      if (causal.defined()) scores = scores + causal;
      for (; next < in.size(); ++next) scores = scores + in[next];
      return one(at::matmul(at::softmax(scores, -1), v)
                     .transpose(1, 2)
                     .reshape({op.batch, op.q_length, op.q_heads * op.v_dimension}));
    };
  }

  // --- element by element, reductions, normalisation

  LayerFunction make(const Elementwise& op) {
    if (op.function == Function::cast) {
      const at::ScalarType type = out_type();
      return [type](const Inputs& in) { return one(in[0].to(type)); };
    }
    if (op.function == Function::where) return where();
    if (op.function == Function::dropout) return dropout(0.5);
    if (op.function == Function::rotary_embedding)
      return [](const Inputs& in) { return one(rotary(in)); };
    for (const UnaryRow& row : unary_rows)
      if (row.function == op.function) {
        if (in_place_ && row.in_place != nullptr)
          return [change = row.in_place](const Inputs& in) {
            at::Tensor x = in[0];
            change(x);
            return one(x);
          };
        return [make = row.make](const Inputs& in) { return one(make(in[0])); };
      }
    for (const BinaryRow& row : binary_rows)
      if (row.function == op.function) {
        if (in_place_ && op.function == Function::add && layer_.inputs.size() == 2 &&
            in_shape().size() == 4)
          return [](const Inputs& in) {
            at::Tensor x = in[0];
            x.add_(in[1]);
            return one(x);
          };
        return [make = row.make](const Inputs& in) {
          at::Tensor result = make(in[0], second_or_first(in));
          for (std::size_t i = 2; i < in.size(); ++i) result = make(result, in[i]);
          return one(result);
        };
      }
    throw Unsupported{fmt::format("computes {}", to_string(op.function))};
  }

  // Masks of language models: zero or practically minus infinity.
  LayerFunction where() {
    const at::ScalarType type = out_type();
    if (layer_.inputs.size() >= 3)
      return [](const Inputs& in) { return one(at::where(in[0].to(at::kBool), in[1], in[2])); };
    return [type](const Inputs& in) { return one((1 - in[0].to(type)) * -1e4); };
  }

  LayerFunction dropout(double rate) {
    if (!trains_) return [](const Inputs& in) { return one(in[0]); };
    return [rate](const Inputs& in) { return one(at::dropout(in[0], rate, true)); };
  }

  LayerFunction make(const Reduce& op) {
    const auto axes = reduced_axes(in_shape(), out_shape());
    if (!axes || axes->empty()) throw Unsupported{"has axes that do not follow from its shapes"};
    const std::vector<std::int64_t> over = *axes;
    switch (op.kind) {
      case Reduction::sum:
        return [over](const Inputs& in) { return one(at::sum(in[0], over)); };
      case Reduction::mean:
        return [over](const Inputs& in) { return one(at::mean(in[0], over)); };
      case Reduction::max:
        return [over](const Inputs& in) { return one(at::amax(in[0], over)); };
      case Reduction::min:
        return [over](const Inputs& in) { return one(at::amin(in[0], over)); };
      case Reduction::l1:
        return [over](const Inputs& in) { return one(at::norm(in[0], 1, over, false)); };
      case Reduction::l2:
        return [over](const Inputs& in) { return one(at::norm(in[0], 2, over, false)); };
      case Reduction::sum_square:
        return [over](const Inputs& in) { return one(at::sum(in[0] * in[0], over)); };
      case Reduction::log_sum:
        return [over](const Inputs& in) { return one(at::log(at::sum(at::abs(in[0]), over))); };
      case Reduction::log_sum_exp:
        return [over](const Inputs& in) { return one(at::logsumexp(in[0], over)); };
      case Reduction::product:
      case Reduction::arg:
        break;
    }
    if (over.size() != 1) throw Unsupported{"reduces several axes"};
    if (op.kind == Reduction::product)
      return [axis = over[0]](const Inputs& in) { return one(at::prod(in[0], axis)); };
    return [axis = over[0]](const Inputs& in) { return one(at::argmax(in[0], axis)); };
  }

  LayerFunction make(const Softmax& op) {
    const bool log = op.log;
    return [log](const Inputs& in) {
      return one(log ? at::log_softmax(in[0], -1) : at::softmax(in[0], -1));
    };
  }

  LayerFunction make(const Normalize& op) {
    constexpr double epsilon = 1e-5;
    switch (op.kind) {
      case Normalization::batch: {
        if (layer_.inputs.size() < 5) throw Unsupported{"lacks its statistics"};
        const bool takes_statistics = trains_ && graph_.tensors[layer_.inputs[1]].is_parameter;
        return [=](const Inputs& in) {
          return one(at::batch_norm(in[0], in[1], in[2], in[3], in[4], takes_statistics, 0.1,
                                    epsilon, false));
        };
      }
      case Normalization::layer: {
        std::vector<std::int64_t> over;  // the last axes, of elements / rows elements
        const Shape& shape = in_shape();
        const std::int64_t size = op.rows > 0 ? op.elements / op.rows : shape.back();
        std::int64_t seen = 1;
        for (std::size_t axis = shape.size(); axis-- > 0 && seen < size;) {
          over.insert(over.begin(), shape[axis]);
          seen *= shape[axis];
        }
        if (seen != size || over.empty())
          throw Unsupported{"normalises axes that are not the last"};
        return [=](const Inputs& in) {
          return one(
              at::layer_norm(in[0], over, input_or_none(in, 1), input_or_none(in, 2), epsilon));
        };
      }
      case Normalization::group: {
        const std::int64_t groups = op.rows / std::max<std::int64_t>(1, in_shape()[0]);
        return [=](const Inputs& in) {
          return one(
              at::group_norm(in[0], groups, input_or_none(in, 1), input_or_none(in, 2), epsilon));
        };
      }
      case Normalization::instance:
        return [=](const Inputs& in) {
          return one(at::instance_norm(in[0], input_or_none(in, 1), input_or_none(in, 2), {}, {},
                                       true, 0.1, epsilon, false));
        };
      case Normalization::rms:
        return [=](const Inputs& in) {
          const at::Tensor scale =
              at::rsqrt(at::mean(at::pow(in[0], 2), std::vector<std::int64_t>{-1}, true) + epsilon);
          const at::Tensor normal = in[0] * scale;
          return one(in.size() > 1 ? in[1] * normal : normal);
        };
      default:
        throw Unsupported{"is a normalisation that is not executed yet"};
    }
  }

  LayerFunction make(const Pool& op) {
    const Shape& in = in_shape();
    const Shape& out = out_shape();
    if (in.size() != 4 || out.size() != 4 || op.kind == Pooling::lp)
      throw Unsupported{"is a pooling that is not executed yet"};
    const Shape in_spatial{in[2], in[3]}, out_spatial{out[2], out[3]};
    const bool adaptive =
        op.kind == Pooling::average &&
        ((out[2] == 1 && out[3] == 1 && op.taps == in[2] * in[3]) || in_spatial == out_spatial);
    const auto window = adaptive ? std::nullopt : pool_window(in_spatial, out_spatial, op.taps);
    if (adaptive || (!window && op.kind == Pooling::average))
      return [out_spatial](const Inputs& x) {
        return one(at::adaptive_avg_pool2d(x[0], out_spatial));
      };
    if (!window) throw Unsupported{"has a window that does not follow from its shapes"};
    const std::vector<std::int64_t> kernel = window->kernel;
    std::vector<std::int64_t> stride, padding, explicit_padding;
    bool even = true;
    for (const WindowAxis& axis : window->axes) {
      stride.push_back(axis.stride);
      padding.push_back(axis.before);
      explicit_padding.insert(explicit_padding.begin(), {axis.before, axis.after});
      even = even && axis.before == axis.after;
    }
    if (!even) padding.assign(2, 0);
    const bool max = op.kind == Pooling::max;
    return [=](const Inputs& x) {
      const at::Tensor padded = even ? x[0] : at::constant_pad_nd(x[0], explicit_padding);
      if (max) return one(at::max_pool2d(padded, kernel, stride, padding));
      return one(at::avg_pool2d(padded, kernel, stride, padding));
    };
  }

  LayerFunction make(const Resize& op) {
    const Shape& out = out_shape();
    if (out.size() != 4 || in_shape().size() != 4 || op.samples != 1 || layer_.inputs.size() != 1)
      throw Unsupported{"is an interpolation that is not executed yet"};
    const std::vector<std::int64_t> size{out[2], out[3]};
    switch (op.kind) {
      case Interpolation::nearest:
        return [size](const Inputs& in) { return one(at::upsample_nearest2d(in[0], size)); };
      case Interpolation::linear:
        return
            [size](const Inputs& in) { return one(at::upsample_bilinear2d(in[0], size, false)); };
      case Interpolation::cubic:
        return [size](const Inputs& in) { return one(at::upsample_bicubic2d(in[0], size, false)); };
    }
    throw Unsupported{"is an interpolation that is not executed yet"};
  }

  // --- movement

  LayerFunction make(const Gather&) {
    const Shape& table = in_shape();
    const Shape& out = out_shape();
    if (layer_.inputs.size() > 1 && table.size() == 2 &&
        !is_float(graph_.tensors[layer_.inputs[1]].type))
      return [](const Inputs& in) { return one(at::embedding(in[0], in[1])); };
    // Indices that are constants of the file: as many elements along the first axis that differs.
    for (std::size_t axis = 0; axis < table.size(); ++axis) {
      Shape picked = table;
      const bool keeps = out.size() == table.size();
      const std::int64_t count = keeps ? out[axis] : 1;
      picked[axis] = count;
      if (element_count(picked) != element_count(out) || count > table[axis]) continue;
      const at::Tensor indices = at::arange(count, at::kLong);
      return [axis, indices](const Inputs& in) {
        return one(at::index_select(in[0], static_cast<std::int64_t>(axis), indices));
      };
    }
    throw Unsupported{"picks elements in a way that does not follow from its shapes"};
  }

  LayerFunction make(const Copy&) {
    if (layer_.inputs.size() > 1) return concat();
    const Shape &in = in_shape(), &out = out_shape();
    const std::int64_t before = element_count(in), after = element_count(out);
    if (layer_.origin == "Roll" && in == out && in.size() > 2)
      return [](const Inputs& x) {
        return one(
            at::roll(x[0], std::vector<std::int64_t>{1, 1}, std::vector<std::int64_t>{1, 2}));
      };
    if (before == after && in != out)
      if (const auto moved = rearrangement(in, out))
        return [split = moved->split, order = moved->order](const Inputs& x) {
          return one(x[0].reshape(split).permute(order).contiguous());
        };
    if (in.size() == out.size() && before > after) return cut(true);
    if (in.size() == out.size() && before < after && layer_.origin == "Pad") {
      std::vector<std::int64_t> padding;
      for (std::size_t axis = in.size(); axis-- > 0;)
        padding.insert(padding.end(), {0, out[axis] - in[axis]});
      return [padding](const Inputs& x) { return one(at::constant_pad_nd(x[0], padding)); };
    }
    in_memory_order_.push_back(layer_.name);
    if (before < after && after % std::max<std::int64_t>(1, before) == 0)
      return [times = after / before](const Inputs& x) {
        return one(x[0].reshape({1, -1}).expand({times, -1}).contiguous());
      };
    if (before < after) throw Unsupported{"copies in a way that does not follow from its shapes"};
    return [after](const Inputs& x) { return one(x[0].reshape(-1).narrow(0, 0, after).clone()); };
  }

  LayerFunction concat() {
    const Shape& out = out_shape();
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
      std::int64_t sum = 0;
      bool fits = true;
      for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
        Shape shape = in_shape(i);
        if (shape.size() != out.size()) {
          fits = false;
          break;
        }
        sum += shape[axis];
        shape[axis] = out[axis];
        fits = fits && shape == out;
      }
      if (fits && sum == out[axis])
        return
            [axis](const Inputs& in) { return one(at::cat(in, static_cast<std::int64_t>(axis))); };
    }
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) sum += element_count(in_shape(i));
    if (sum != element_count(out))
      throw Unsupported{"copies in a way that does not follow from its shapes"};
    in_memory_order_.push_back(layer_.name);
    return [](const Inputs& in) {
      Inputs flat;
      for (const at::Tensor& x : in) flat.push_back(x.reshape(-1));
      return one(at::cat(flat));
    };
  }

  // The first part along each axis.
  LayerFunction cut(bool copies) {
    const Shape &in = in_shape(), &out = out_shape();
    for (std::size_t axis = 0; axis < in.size(); ++axis)
      if (out[axis] > in[axis])
        throw Unsupported{"cuts in a way that does not follow from its shapes"};
    return [out, copies](const Inputs& x) {
      at::Tensor part = x[0];
      for (std::size_t axis = 0; axis < out.size(); ++axis)
        if (part.size(static_cast<std::int64_t>(axis)) != out[axis])
          part = part.narrow(static_cast<std::int64_t>(axis), 0, out[axis]);
      return one(copies ? part.contiguous() : part);
    };
  }

  LayerFunction make(const View&) {
    if (layer_.outputs.size() > 1) return split();
    if (layer_.origin == "Dropout") return dropout(in_shape().size() == 2 ? 0.5 : 0.1);
    const Shape &in = in_shape(), &out = out_shape();
    const std::int64_t before = element_count(in), after = element_count(out);
    if (before == after) {
      if (in != out && layer_.origin == "Transpose")
        if (const auto moved = rearrangement(in, out))
          return [split = moved->split, order = moved->order](const Inputs& x) {
            return one(x[0].reshape(split).permute(order));
          };
      return [out](const Inputs& x) { return one(x[0].reshape(out)); };
    }
    if (before < after && in.size() <= out.size())
      return [out](const Inputs& x) { return one(x[0].expand(out)); };
    if (in.size() == out.size()) return cut(false);
    if (in.size() == out.size() + 1)  // x[:, 0]
      for (std::size_t axis = 0; axis < in.size(); ++axis) {
        Shape rest = in;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
        if (rest == out && (axis > 0 || in.size() == 1))
          return [axis](const Inputs& x) {
            return one(x[0].select(static_cast<std::int64_t>(axis), 0));
          };
      }
    return [after](const Inputs& x) { return one(x[0].reshape(-1).narrow(0, 0, after)); };
  }

  LayerFunction split() {
    const Shape& in = in_shape();
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      std::vector<std::int64_t> sizes;
      bool fits = true;
      for (std::size_t i = 0; i < layer_.outputs.size(); ++i) {
        Shape shape = out_shape(i);
        if (shape.size() != in.size())
          throw Unsupported{"splits in a way that is not executed yet"};
        sizes.push_back(shape[axis]);
        shape[axis] = in[axis];
        fits = fits && shape == in;
      }
      std::int64_t sum = 0;
      for (const std::int64_t size : sizes) sum += size;
      if (fits && sum == in[axis])
        return [axis, sizes](const Inputs& x) {
          return at::split_with_sizes(x[0], sizes, static_cast<std::int64_t>(axis));
        };
    }
    throw Unsupported{"splits in a way that does not follow from its shapes"};
  }

  LayerFunction make(const Scatter&) { throw Unsupported{"is a scatter"}; }
  LayerFunction make(const Sort&) { throw Unsupported{"is a sort"}; }
  LayerFunction make(const FourierTransform&) { throw Unsupported{"is a Fourier transform"}; }
  LayerFunction make(const Described&) { throw Unsupported{"is described by formulas only"}; }
  LayerFunction make(const Unknown& op) { throw Unsupported{op.reason}; }

  const Graph& graph_;
  const Layer& layer_;
  bool trains_, in_place_;
  std::vector<std::string>& in_memory_order_;
  std::vector<LearnedTensor>* hidden_ = nullptr;
};

// --- the whole graph

class Builder {
 public:
  Builder(const Graph& graph, bool trains) : graph_(graph), trains_(trains) {}

  GraphProgram run() {
    program_.outputs = graph_.outputs;
    find_uses();
    make_constants();
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      if (runs_here(graph_.layers[i])) add(i);
    refuse_unsupported();
    add_last_uses();
    check();
    if (!in_memory_order_.empty())
      program_.notes.push_back(fmt::format(
          "{} of {} layers copy in the order of memory, since the network does not keep "
          "their own: {}{}",
          in_memory_order_.size(), program_.calls.size(), in_memory_order_.front(),
          in_memory_order_.size() > 1 ? " …" : ""));
    return std::move(program_);
  }

 private:
  static bool runs_here(const Layer& layer) {
    return layer.standing == Standing::counted || layer.standing == Standing::absorbed;
  }

  void find_uses() {
    producer_.assign(graph_.tensors.size(), no_index);
    last_use_.assign(graph_.tensors.size(), no_index);
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      if (!runs_here(graph_.layers[i])) continue;
      for (const TensorId id : graph_.layers[i].outputs) producer_[id] = i;
      for (const TensorId id : graph_.layers[i].inputs) last_use_[id] = i;
    }
    kept_.assign(graph_.tensors.size(), false);
    for (const TensorId id : graph_.outputs) kept_[id] = true;
  }

  // Rows of the smallest table that the tensor indexes, itself or by a view; 0 if none.
  std::int64_t index_limit(TensorId id) const {
    std::int64_t limit = 0;
    for (const Layer& layer : graph_.layers) {
      if (layer.parts.empty() || layer.inputs.empty()) continue;
      std::int64_t found = 0;
      if (std::holds_alternative<Gather>(layer.parts.front().op) && layer.inputs.size() > 1 &&
          layer.inputs[1] == id && !graph_.tensors[layer.inputs[0]].shape.empty())
        found = graph_.tensors[layer.inputs[0]].shape.front();
      else if (is_view(layer) && layer.inputs[0] == id && !layer.outputs.empty())
        found = index_limit(layer.outputs[0]);
      if (found > 0) limit = limit == 0 ? found : std::min(limit, found);
    }
    return limit;
  }

  // Weights are small, so that values stay finite through a hundred layers.
  void make_constants() {
    program_.constants.resize(graph_.tensors.size());
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      const Tensor& tensor = graph_.tensors[id];
      if (producer_[id] != no_index || (last_use_[id] == no_index && !kept_[id])) continue;
      const auto type = scalar_type(tensor.type);
      if (!type)
        throw Error(tensor.name, fmt::format("LibTorch has no {} tensors", to_string(tensor.type)));
      const auto options = at::TensorOptions(*type);
      at::Tensor& value = program_.constants[id];
      if (is_float(tensor.type)) {
        if (tensor.role == Role::weight && tensor.shape.size() < 2)
          value = at::ones(tensor.shape, options);  // scales, variances: nothing is divided by zero
        else
          value = (at::randn(tensor.shape, at::kFloat) * (tensor.role == Role::weight ? 0.02 : 1.0))
                      .to(options);
      } else if (const std::int64_t limit = index_limit(id); limit > 0) {
        value = at::randint(limit, tensor.shape, options);
      } else {
        value = at::ones(tensor.shape, options);
      }
      if (trains_ && tensor.is_parameter && is_float(tensor.type)) {
        value.set_requires_grad(true);
        program_.parameters.push_back({tensor.name, value});
      }
    }
  }

  // torchvision's modules work in place: activations and residual sums of images, activations of
  // classifiers. Not where the layer before needs its result for the gradient, and not what others
  // still read.
  bool can_change_input(const Layer& layer, std::size_t index) const {
    if (layer.inputs.empty() || layer.outputs.size() != 1) return false;
    const TensorId input = layer.inputs[0];
    const Shape& shape = graph_.tensors[input].shape;
    if (shape != graph_.tensors[layer.outputs[0]].shape) return false;
    if (last_use_[input] != index || kept_[input] || producer_[input] == no_index) return false;
    const Layer& before = graph_.layers[producer_[input]];
    if (before.parts.size() != 1) return false;
    const Op& op = before.parts.front().op;
    if (shape.size() == 2) return std::holds_alternative<MatMul>(op);
    if (shape.size() != 4) return false;
    return std::holds_alternative<Convolution>(op) || std::holds_alternative<Normalize>(op) ||
           (std::holds_alternative<Elementwise>(op) &&
            std::get<Elementwise>(op).function == Function::add);
  }

  void add(std::size_t index) {
    const Layer& layer = graph_.layers[index];
    LayerFunction function;
    try {
      LayerTranslator translator(graph_, layer, trains_, can_change_input(layer, index),
                                 in_memory_order_);
      function = translator.translate(program_.parameters);
    } catch (const Unsupported& fault) {
      unsupported_.push_back(fmt::format("{} ({}) {}", layer.name, layer.origin, fault.reason));
      return;
    }
    std::vector<Shape> shapes;
    for (const TensorId id : layer.outputs) shapes.push_back(graph_.tensors[id].shape);
    program_.calls.push_back(
        {layer.name,
         index,
         [function = std::move(function), in = layer.inputs, out = layer.outputs,
          shapes = std::move(shapes), name = layer.name](Values& values) {
           Inputs inputs;
           inputs.reserve(in.size());
           for (const TensorId id : in) inputs.push_back(values[id]);
           Inputs results = function(inputs);
           for (std::size_t i = 0; i < std::min(out.size(), results.size()); ++i) {
             if (results[i].sizes() != at::IntArrayRef(shapes[i])) {
               if (results[i].numel() != element_count(shapes[i]))
                 throw Error(name,
                             fmt::format("LibTorch returns {}, expected {}",
                                         shape_text(results[i].sizes()), shape_text(shapes[i])));
               results[i] = results[i].reshape(shapes[i]);
             }
             values[out[i]] = std::move(results[i]);
           }
         },
         {}});
  }

  void refuse_unsupported() const {
    if (unsupported_.empty()) return;
    std::string text = unsupported_.front();
    if (unsupported_.size() > 1) text += fmt::format(", and {} more", unsupported_.size() - 1);
    throw Error(graph_.name,
                fmt::format("{} of its layers cannot be executed: {}", unsupported_.size(), text),
                "'ridgeline explain' predicts it without running it", ExitCode::incomplete);
  }

  void add_last_uses() {
    for (LayerCall& call : program_.calls) {
      const Layer& layer = graph_.layers[call.layer];
      for (const TensorId id : layer.inputs)
        if (last_use_[id] == call.layer && producer_[id] != no_index && !kept_[id])
          call.last_uses.push_back(id);
      for (const TensorId id : layer.outputs)
        if (last_use_[id] == no_index && !kept_[id]) call.last_uses.push_back(id);
    }
  }

  void check() {
    const c10::InferenceMode guard(!trains_);
    Values values = program_.constants;
    for (const LayerCall& call : program_.calls) {
      try {
        call.run(values);
      } catch (const Error&) {
        throw;
      } catch (const std::exception& error) {
        if (is_out_of_memory(error)) throw;  // of the network, not of this layer
        throw Error(graph_.name + ": " + call.name, "LibTorch: " + cause_of(error),
                    "'ridgeline explain' predicts it without running it", ExitCode::incomplete);
      }
      for (const TensorId id : call.last_uses) values[id].reset();
    }
  }

  const Graph& graph_;
  bool trains_;
  GraphProgram program_;
  std::vector<std::size_t> producer_, last_use_;
  std::vector<bool> kept_;
  std::vector<std::string> in_memory_order_, unsupported_;
};

}  // namespace

GraphProgram graph_program(const Graph& graph, bool trains) { return Builder(graph, trains).run(); }

}  // namespace ridgeline::torch_module
