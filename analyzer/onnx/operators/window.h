// Window: the sliding window of convolutions and pools: kernel, strides, dilations and padding,
// read from the attributes and checked. Does not count work.
#pragma once

#include <cstddef>
#include <optional>

#include "analyzer/graph/shape.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

enum class AutoPad { none, same, valid };  // same: upper or lower, which only shifts the window

// One entry per spatial axis in each list.
struct Window {
  Shape kernel, strides, dilations, pads_begin, pads_end;
  AutoPad auto_pad = AutoPad::none;
};

// The window over `axes` spatial axes. The kernel comes from the weights, if any, and the attribute
// must agree; otherwise from the attribute.
Window read_window(const NodeContext& context, std::size_t axes,
                   const std::optional<Shape>& kernel_of_weights = {});

// Positions of the window over the input. With `ceil` the last one may extend beyond the end, if it
// starts inside the input or the padding before it.
Shape window_positions(const NodeContext& context, const Window& window, const Shape& in_spatial,
                       bool ceil = false);

// Output of a transposed convolution; reads output_padding and output_shape.
Shape transposed_positions(const NodeContext& context, const Window& window,
                           const Shape& in_spatial);

// Output of MaxUnpool, which inverts a pool with this window.
Shape unpooled_positions(const NodeContext& context, const Window& window, const Shape& in_spatial);

// The spatial part of an activation: N×C×D1…, or N×D1…×C with channels last.
Shape spatial_part(const Shape& shape, bool channels_last);
std::int64_t channels_of(const Shape& shape, bool channels_last);
Shape activation_shape(std::int64_t batch, std::int64_t channels, const Shape& spatial,
                       bool channels_last);

}  // namespace ridgeline::onnx
