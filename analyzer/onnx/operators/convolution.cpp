// Convolutions: plain, transposed, deformable, quantised, fused, channels-last. Taps on padding are
// counted, as by every counter except XLA's.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/window.h"

namespace ridgeline::onnx {
namespace {

// Positions of the inputs.
struct ConvolutionInputs {
  std::size_t data = 0, weights = 1, bias = 2;
  bool channels_last = false;
};

// com.microsoft.NhwcConv has weights with channels last, too, from some optimisers.
bool has_channels_last(const NodeContext& context, std::size_t weights, std::int64_t channels) {
  return context.node().op_type == "NhwcConv" && !context.shape(weights).empty() &&
         context.shape(weights).back() * context.integer("group", 1) == channels;
}

std::int64_t groups_of(const NodeContext& context) {
  const std::int64_t groups = context.integer("group", 1);
  if (groups < 1) context.fail(fmt::format("group is {}", groups));
  return groups;
}

// Spatial shape of the weights: as many axes as the input, at least one.
Shape kernel_of(const NodeContext& context, const ConvolutionInputs& inputs) {
  want_rank_at_least(context, inputs.data, 3);
  want_rank(context, inputs.weights, context.shape(inputs.data).size());
  const std::int64_t channels = channels_of(context.shape(inputs.data), inputs.channels_last);
  return spatial_part(context.shape(inputs.weights),
                      has_channels_last(context, inputs.weights, channels));
}

Convolution convolution_of(const NodeContext& context, const ConvolutionInputs& inputs) {
  const Shape kernel = kernel_of(context, inputs);
  const Shape& data = context.shape(inputs.data);
  const Shape& weights = context.shape(inputs.weights);
  Convolution op;
  op.groups = groups_of(context);
  op.batch = data[0];
  op.in_channels = channels_of(data, inputs.channels_last);
  op.out_channels = weights[0];
  const bool last = has_channels_last(context, inputs.weights, op.in_channels);
  const std::int64_t wanted = multiplied(context, {last ? weights.back() : weights[1], op.groups});
  if (wanted != op.in_channels)
    context.fail(fmt::format("weights {} in {} group{} want {} input channels, the input {} has {}",
                             to_string(weights), op.groups, op.groups == 1 ? "" : "s", wanted,
                             to_string(data), op.in_channels));
  divided(context, "the number of output channels", op.out_channels, op.groups);
  op.in_spatial = spatial_part(data, inputs.channels_last);
  const Window window = read_window(context, kernel.size(), kernel);
  op.kernel = window.kernel;
  op.out_spatial = window_positions(context, window, op.in_spatial);
  op.bias = context.has(inputs.bias);
  if (op.bias) want_vector(context, inputs.bias, op.out_channels, "output channels");
  return op;
}

Shape output_shape(const Convolution& op, bool channels_last) {
  return activation_shape(op.batch, op.out_channels, op.out_spatial, channels_last);
}

void conv(NodeContext& context) {
  context.not_trained(0);  // a constant picture, such as an encoding of positions
  const Convolution op = convolution_of(context, {});
  context.set(0, context.type(0), output_shape(op, false));
  context.emit(op);
}

// A convolution, an optional addition of the fourth input, and an activation.
void fused_convolution(NodeContext& context, bool channels_last) {
  const Convolution op = convolution_of(context, {0, 1, 2, channels_last});
  const Shape shape = output_shape(op, channels_last);
  context.set(0, context.type(0), shape);
  context.emit(op);
  if (context.has(3)) {
    want_broadcastable_to(context, 3, shape);
    emit_elementwise(context, ElementFunction::add, element_count(shape));
  }
  emit_activation(context, context.text("activation", ""), element_count(shape));
}

void fused_conv(NodeContext& context) { fused_convolution(context, false); }
void nhwc_conv(NodeContext& context) { fused_convolution(context, true); }

void conv_integer(NodeContext& context) {
  const Convolution op = convolution_of(context, {0, 1, no_input, false});
  context.set(0, ElementType::int32, output_shape(op, false));
  emit_in(context, op, context.type(0));
}

void qlinear_conv(NodeContext& context) {
  const bool channels_last = context.integer("channels_last", 0) != 0;
  const Convolution op = convolution_of(context, {0, 3, 8, channels_last});
  context.set(0, first_known_type(context, {7, 0}), output_shape(op, channels_last));
  emit_in(context, op, context.type(0));
}

// Inputs: X, W, offsets, bias, mask.
void deform_conv(NodeContext& context) {
  Convolution op = convolution_of(context, {0, 1, 3, false});
  op.deformable = true;
  const Shape shape = output_shape(op, false);
  const std::int64_t offset_groups = context.integer("offset_group", 1);
  if (offset_groups < 1) context.fail(fmt::format("offset_group is {}", offset_groups));
  const auto axes = static_cast<std::int64_t>(op.kernel.size());
  const std::int64_t taps = multiplied(context, {element_count(op.kernel), offset_groups});
  want_shape(context, 2,
             activation_shape(op.batch, multiplied(context, {taps, axes}), op.out_spatial, false));
  if (context.has(4))
    want_shape(context, 4, activation_shape(op.batch, taps, op.out_spatial, false));
  context.set(0, context.type(0), shape);
  context.emit(op);
}

void transposed_convolution(NodeContext& context, std::size_t bias,
                            const std::optional<Shape>& pads) {
  const ConvolutionInputs inputs{0, 1, bias, false};
  const Shape kernel = kernel_of(context, inputs);
  const Shape& data = context.shape(0);
  const Shape& weights = context.shape(1);
  Convolution op;
  op.transposed = true;
  op.groups = groups_of(context);
  op.batch = data[0];
  op.in_channels = data[1];
  if (weights[0] != op.in_channels)
    context.fail(fmt::format("weights {} want {} input channels, the input {} has {}",
                             to_string(weights), weights[0], to_string(data), op.in_channels));
  divided(context, "the number of input channels", op.in_channels, op.groups);
  op.out_channels = multiplied(context, {weights[1], op.groups});
  op.in_spatial = spatial_part(data, false);
  Window window = read_window(context, kernel.size(), kernel);
  if (pads) {
    const auto middle = pads->begin() + static_cast<std::ptrdiff_t>(kernel.size());
    window.pads_begin.assign(pads->begin(), middle);
    window.pads_end.assign(middle, pads->end());
  }
  op.kernel = window.kernel;
  op.out_spatial = transposed_positions(context, window, op.in_spatial);
  op.bias = context.has(bias);
  if (op.bias) want_vector(context, bias, op.out_channels, "output channels");
  context.set(0, context.type(0), output_shape(op, false));
  context.emit(op);
}

void conv_transpose(NodeContext& context) { transposed_convolution(context, 2, {}); }

// com.microsoft. Inputs: X, W, pads, bias.
void conv_transpose_with_dynamic_pads(NodeContext& context) {
  std::optional<Shape> pads;
  if (context.has(2)) {
    context.not_data(2);
    pads = context.needed_integers(2);
    const std::size_t wanted =
        2 * (context.shape(0).size() - std::min<std::size_t>(2, context.shape(0).size()));
    if (pads->size() != wanted)
      context.fail(fmt::format("there are {} pads, the input wants {}", pads->size(), wanted));
    for (const std::int64_t pad : *pads)
      if (pad < 0 || pad > max_dimension) context.fail(fmt::format("a padding of {}", pad));
  }
  transposed_convolution(context, 3, pads);
}

// Depthwise and causal; positions before the first may come from the state of an earlier call.
// Inputs: data, weights, bias, state.
void causal_conv_with_state(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  want_rank(context, 1, data.size());
  const Shape& weights = context.shape(1);
  if (weights[0] != data[1] || weights[1] != 1)
    context.fail(fmt::format("weights {} do not fit the {} channels of the input {}",
                             to_string(weights), data[1], to_string(data)));
  Convolution op;
  op.batch = data[0];
  op.in_channels = op.out_channels = op.groups = data[1];
  op.kernel = spatial_part(weights, false);
  op.in_spatial = op.out_spatial = spatial_part(data, false);
  op.bias = context.has(2);
  if (op.bias) want_vector(context, 2, data[1], "channels");
  if (op.groups == 0) op.groups = 1;  // no channels, no work
  context.set(0, context.type(0), data);
  Shape state = data;
  state.back() = weights.back() - 1;
  if (const std::int64_t slots = context.integer("state_window", 0); slots > 0)
    state.insert(state.begin(), slots);
  context.set(1, context.type(0), state);
  context.emit(op);
  emit_activation(context, context.text("activation", "none"), element_count(data));
}

// The input's channels are padded to whole blocks, so they need not match the weights'.
void blocked_conv(NodeContext& context) {
  const Shape kernel = kernel_of(context, {});
  const Shape& data = context.shape(0);
  const Shape& weights = context.shape(1);
  Convolution op;
  op.groups = groups_of(context);
  op.batch = data[0];
  op.in_channels = multiplied(context, {weights[1], op.groups});
  op.out_channels = weights[0];
  op.in_spatial = spatial_part(data, false);
  const Window window = read_window(context, kernel.size(), kernel);
  op.kernel = window.kernel;
  op.out_spatial = window_positions(context, window, op.in_spatial);
  op.bias = context.has(2);
  const Shape shape = output_shape(op, false);
  context.set(0, context.type(0), shape);
  context.emit(op);
  if (context.has(3)) emit_elementwise(context, ElementFunction::add, element_count(shape));
  emit_activation(context, context.text("activation", ""), element_count(shape));
}

// Blocks of 16 channels, as with AVX-512; the file does not record whether its machine used 8 or
// 16.
void reorder_input(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const bool channels_last = context.integer("channels_last", 0) != 0;
  const Shape& data = context.shape(0);
  const std::int64_t channels = (channels_of(data, channels_last) + 15) / 16 * 16;
  context.set(0, context.type(0),
              activation_shape(data[0], channels, spatial_part(data, channels_last), false));
  context.emit(Copy{});
}

void reorder_output(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& data = context.shape(0);
  const std::int64_t channels = context.integer("channels", 0);
  if (channels < 1) context.fail(fmt::format("channels is {}", channels));
  context.set(0, context.type(0),
              activation_shape(data[0], channels, spatial_part(data, false),
                               context.integer("channels_last", 0) != 0));
  context.emit(Copy{});
}

}  // namespace

std::span<const Operator> convolution_operators() {
  static constexpr Operator rows[] = {
      {"", "Conv", conv},
      {"", "ConvInteger", conv_integer},
      {"", "ConvTranspose", conv_transpose},
      {"", "DeformConv", deform_conv},
      {"", "QLinearConv", qlinear_conv},
      {"", "CausalConvWithState", causal_conv_with_state},
      {"com.microsoft", "CausalConvWithState", causal_conv_with_state},
      {"com.microsoft", "ConvTransposeWithDynamicPads", conv_transpose_with_dynamic_pads},
      {"com.microsoft", "FusedConv", fused_conv},
      {"com.microsoft", "NhwcConv", nhwc_conv},
      {"com.microsoft", "NhwcFusedConv", nhwc_conv},
      {"com.microsoft", "QLinearConv", qlinear_conv},
      {"com.microsoft.nchwc", "Conv", blocked_conv},
      {"com.microsoft.nchwc", "ReorderInput", reorder_input},
      {"com.microsoft.nchwc", "ReorderOutput", reorder_output},
  };
  return rows;
}

}  // namespace ridgeline::onnx
