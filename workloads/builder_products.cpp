// Layers that are mostly products: convolutions, linear layers, matrix products, recurrent cells.
// Attention has a file of its own, workloads/builder_attention.cpp.
#include <fmt/format.h>

#include "workloads/builder.h"

namespace ridgeline {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

// Positions of a window along one axis, as torch counts them.
std::int64_t positions(std::int64_t in, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding, bool ceil) {
  const std::int64_t room = in + 2 * padding - kernel;
  if (room < 0) return 0;
  std::int64_t count = (ceil ? rounded_up(room, stride) : room / stride) + 1;
  if (ceil && (count - 1) * stride >= in + padding) --count;  // it would begin outside
  return count;
}

Shape spatial(Extent extent) { return {extent.height, extent.width}; }

Shape leading(const Shape& shape) { return {shape.begin(), shape.end() - 1}; }

}  // namespace

Extent NetworkBuilder::window_positions(std::string_view name, Operand x,
                                        const PoolOptions& window) const {
  const std::int64_t height = dimension(x, 2), width = dimension(x, 3);
  if (window.same)
    return {rounded_up(height, window.stride.height), rounded_up(width, window.stride.width)};
  const Extent out(positions(height, window.kernel.height, window.stride.height,
                             window.padding.height, window.ceil),
                   positions(width, window.kernel.width, window.stride.width, window.padding.width,
                             window.ceil));
  if (out.height < 1 || out.width < 1)
    refuse(fmt::format("an image of {0}x{0} is too small: '{1}' has a window of {2}x{3} and only "
                       "{4}x{5} to see",
                       settings_.image, full_name(name), window.kernel.height, window.kernel.width,
                       height, width),
           "give a larger --image");
  return out;
}

ConvolutionWeights NetworkBuilder::conv_weights(std::string_view name, std::int64_t in_channels,
                                                std::int64_t channels,
                                                const ConvolutionOptions& options) {
  const Scope names = scope(name);
  ConvolutionWeights weights{parameter("weight", {channels, in_channels / options.groups,
                                                  options.kernel.height, options.kernel.width}),
                             {}};
  if (options.bias) weights.bias = parameter("bias", {channels});
  return weights;
}

Operand NetworkBuilder::conv(std::string_view name, Operand x, const ConvolutionWeights& weights,
                             const ConvolutionOptions& options) {
  const Extent out = window_positions(name, x,
                                      {.kernel = options.kernel,
                                       .stride = options.stride,
                                       .padding = options.padding,
                                       .same = options.same});
  Convolution op;
  op.batch = dimension(x, 0);
  op.in_channels = dimension(x, 1);
  op.out_channels = dimension(weights.weight, 0);
  op.groups = options.groups;
  op.kernel = spatial(options.kernel);
  op.in_spatial = {dimension(x, 2), dimension(x, 3)};
  op.out_spatial = spatial(out);
  op.bias = weights.bias.has_value();
  std::vector<Operand> inputs{x, weights.weight};
  if (weights.bias) inputs.push_back(*weights.bias);
  return layer(name, "Conv", op, inputs, {op.batch, op.out_channels, out.height, out.width});
}

Operand NetworkBuilder::conv(std::string_view name, Operand x, std::int64_t channels,
                             const ConvolutionOptions& options) {
  return conv(name, x, conv_weights(name, dimension(x, 1), channels, options), options);
}

// Without output padding and with stride and kernel as they are: the output of a convolution whose
// input this would be.
Operand NetworkBuilder::conv_transpose(std::string_view name, Operand x, std::int64_t channels,
                                       const ConvolutionOptions& options) {
  const Extent in(dimension(x, 2), dimension(x, 3));
  const Extent out(
      (in.height - 1) * options.stride.height - 2 * options.padding.height + options.kernel.height,
      (in.width - 1) * options.stride.width - 2 * options.padding.width + options.kernel.width);
  Convolution op;
  op.batch = dimension(x, 0);
  op.in_channels = dimension(x, 1);
  op.out_channels = channels;
  op.groups = options.groups;
  op.kernel = spatial(options.kernel);
  op.in_spatial = spatial(in);
  op.out_spatial = spatial(out);
  op.transposed = true;
  op.bias = options.bias;

  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(
        parameter("weight", {op.in_channels, channels / op.groups, op.kernel[0], op.kernel[1]}));
    if (op.bias) inputs.push_back(parameter("bias", {channels}));
  }
  return layer(name, "ConvTranspose", op, inputs, {op.batch, channels, out.height, out.width});
}

Operand NetworkBuilder::linear(std::string_view name, Operand x, std::int64_t features, bool bias) {
  const std::int64_t width = dimension(x, -1);
  Shape shape = leading(this->shape(x));
  MatMul op;
  op.m = checked_element_count(shape).value_or(0);
  op.n = features;
  op.k = width;
  op.bias = bias;
  const std::string_view origin = shape.size() == 1 ? "Gemm" : "MatMul";
  shape.push_back(features);

  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight", {features, width}));
    if (bias) inputs.push_back(parameter("bias", {features}));
  }
  return layer(name, origin, op, inputs, std::move(shape));
}

Operand NetworkBuilder::linear_tied(std::string_view name, Operand x, Operand weight) {
  Shape shape = leading(this->shape(x));
  MatMul op;
  op.m = checked_element_count(shape).value_or(0);
  op.n = dimension(weight, 0);
  op.k = dimension(weight, 1);
  shape.push_back(op.n);
  return layer(name, "MatMul", op, {x, weight}, std::move(shape));
}

Operand NetworkBuilder::product(std::string_view name, Operand a, Operand b, std::int64_t n,
                                std::int64_t k) {
  Shape shape = leading(this->shape(a));
  MatMul op;
  op.m = shape.back();
  op.n = n;
  op.k = k;
  op.batch = checked_element_count(leading(shape)).value_or(0);
  shape.push_back(n);
  return layer(name, "MatMul", op, {a, b}, std::move(shape), type(a));
}

Operand NetworkBuilder::matmul(std::string_view name, Operand a, Operand b) {
  return product(name, a, b, dimension(b, -1), dimension(a, -1));
}

Operand NetworkBuilder::matmul_transposed(std::string_view name, Operand a, Operand b) {
  return product(name, a, b, dimension(b, -2), dimension(a, -1));
}

// Two biases, of input and of recurrence, as ONNX and torch have them.
RecurrentOutputs NetworkBuilder::recurrent(std::string_view name, Cell cell, Operand x,
                                           std::int64_t hidden) {
  const std::int64_t steps = dimension(x, 0), batch = dimension(x, 1), input = dimension(x, 2);
  const std::int64_t gates = cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
  const std::string_view origin = cell == Cell::lstm ? "LSTM" : cell == Cell::gru ? "GRU" : "RNN";
  const Recurrent op{cell, 1, steps, batch, input, hidden, true, false};
  std::vector<Operand> inputs{x};
  {
    const Scope names = scope(name);
    inputs.push_back(parameter("weight_ih", {gates * hidden, input}));
    inputs.push_back(parameter("weight_hh", {gates * hidden, hidden}));
    inputs.push_back(parameter("bias_ih", {gates * hidden}));
    inputs.push_back(parameter("bias_hh", {gates * hidden}));
  }
  const Operand every = layer(name, origin, op, inputs, {steps, batch, hidden});
  const std::string made = graph_.layers.back().name;
  RecurrentOutputs outputs{
      every, tensor(made + ".h_n", {1, batch, hidden}, settings_.dtype, Role::activation), {}};
  graph_.layers.back().outputs.push_back(outputs.last.id);
  if (cell == Cell::lstm) {
    outputs.cell = tensor(made + ".c_n", {1, batch, hidden}, settings_.dtype, Role::activation);
    graph_.layers.back().outputs.push_back(outputs.cell.id);
  }
  return outputs;
}

}  // namespace ridgeline
