// Layers that compute element by element, normalise, pool or resize.
// Layers that only move data are in workloads/builder_movement.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/builder.h"

namespace ridgeline {
namespace {

// What ONNX calls the operator.
std::string_view operator_word(Function function) {
  switch (function) {
    case Function::add:
      return "Add";
    case Function::subtract:
      return "Sub";
    case Function::multiply:
      return "Mul";
    case Function::divide:
      return "Div";
    case Function::where:
      return "Where";
    case Function::exp:
      return "Exp";
    case Function::relu:
      return "Relu";
    case Function::leaky_relu:
      return "LeakyRelu";
    case Function::clip:
      return "Clip";
    case Function::sigmoid:
      return "Sigmoid";
    case Function::hard_sigmoid:
      return "HardSigmoid";
    case Function::tanh:
      return "Tanh";
    case Function::swish:
      return "Swish";
    case Function::hard_swish:
      return "HardSwish";
    case Function::gelu:
    case Function::gelu_tanh:
      return "Gelu";
    case Function::rotary_embedding:
      return "RotaryEmbedding";
    default:
      return to_string(function);
  }
}

}  // namespace

Operand NetworkBuilder::activation(std::string_view name, Operand x, Function function) {
  return layer(name, operator_word(function), Elementwise{function, element_count(shape(x))}, {x},
               shape(x), type(x));
}

Operand NetworkBuilder::combine(std::string_view name, Operand a, Operand b, Function function) {
  auto shape = broadcast(this->shape(a), this->shape(b));
  if (!shape)
    refuse(fmt::format("'{}' cannot combine {} and {}", full_name(name), to_string(this->shape(a)),
                       to_string(this->shape(b))),
           "give sizes that the network divides evenly");
  const std::int64_t elements = element_count(*shape);
  return layer(name, operator_word(function), Elementwise{function, elements}, {a, b},
               std::move(*shape), type(a));
}

Operand NetworkBuilder::scale(std::string_view name, Operand x) {
  const auto used = uses_.find(full_name(name));  // the constant is named after the layer
  const std::string number = used == uses_.end() ? "" : fmt::format("_{}", used->second);
  return multiply(name, x, constant(fmt::format("{}{}.factor", name, number), {}));
}

Operand NetworkBuilder::cast(std::string_view name, Operand x, ElementType type) {
  return layer(name, "Cast", Elementwise{Function::cast, element_count(shape(x))}, {x}, shape(x),
               type);
}

Operand NetworkBuilder::softmax(std::string_view name, Operand x, std::optional<ElementType> type) {
  return layer(name, "Softmax", Softmax{element_count(shape(x)), false}, {x}, shape(x), type);
}

// The running statistics are no parameters: no gradient reaches them.
Operand NetworkBuilder::batch_norm(std::string_view name, Operand x, bool frozen) {
  const std::int64_t channels = dimension(x, 1);
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    for (const char* vector : {"weight", "bias", "running_mean", "running_var"}) {
      inputs.push_back(parameter(vector, {channels}));
      const bool learned = inputs.size() <= 3 && !frozen;
      graph_.tensors.back().is_parameter = learned;
    }
  }
  const Normalize op{Normalization::batch, element_count(shape(x)), channels, true, false, 0};
  return layer(name, "BatchNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::layer_norm(std::string_view name, Operand x) {
  const std::int64_t width = dimension(x, -1), elements = element_count(shape(x));
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    for (const char* learned : {"weight", "bias"}) inputs.push_back(parameter(learned, {width}));
  }
  const Normalize op{Normalization::layer, elements, elements / width, true, false, 0};
  return layer(name, "LayerNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::rms_norm(std::string_view name, Operand x) {
  const std::int64_t width = dimension(x, -1), elements = element_count(shape(x));
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight", {width}));
  }
  const Normalize op{Normalization::rms, elements, elements / width, true, false, 0};
  return layer(name, "RMSNormalization", op, inputs, shape(x));
}

Operand NetworkBuilder::pool(std::string_view name, Operand x, Pooling kind,
                             const PoolOptions& options) {
  const Extent out = window_positions(name, x, options);
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Pool op{kind, checked_element_count(shape).value_or(0),
                options.kernel.height * options.kernel.width};
  return layer(name, kind == Pooling::max ? "MaxPool" : "AveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::max_pool(std::string_view name, Operand x, const PoolOptions& options) {
  return pool(name, x, Pooling::max, options);
}

Operand NetworkBuilder::average_pool(std::string_view name, Operand x, const PoolOptions& options) {
  return pool(name, x, Pooling::average, options);
}

// Windows of torch's adaptive pooling reach from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉; where out does not
// divide in, some are one longer than others and the longest counts for all.
Operand NetworkBuilder::adaptive_average_pool(std::string_view name, Operand x, Extent out) {
  const auto window = [](std::int64_t in, std::int64_t count) {
    std::int64_t longest = 1;
    for (std::int64_t i = 0; i < count; ++i)
      longest = std::max(longest, ((i + 1) * in + count - 1) / count - i * in / count);
    return longest;
  };
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Pool op{Pooling::average, checked_element_count(shape).value_or(0),
                window(dimension(x, 2), out.height) * window(dimension(x, 3), out.width)};
  return layer(name, "AveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::global_average_pool(std::string_view name, Operand x) {
  Shape shape{dimension(x, 0), dimension(x, 1), 1, 1};
  const Pool op{Pooling::average, element_count(shape), dimension(x, 2) * dimension(x, 3)};
  return layer(name, "GlobalAveragePool", op, {x}, std::move(shape));
}

Operand NetworkBuilder::resize(std::string_view name, Operand x, Extent out, Interpolation kind) {
  Shape shape{dimension(x, 0), dimension(x, 1), out.height, out.width};
  const Resize op{kind, 2, checked_element_count(shape).value_or(0), 1};
  return layer(name, "Resize", op, {x}, std::move(shape));
}

}  // namespace ridgeline
