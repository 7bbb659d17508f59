// Window: what slides over the spatial axes in convolutions and pools: kernel, strides, dilations
// and padding, read from the attributes and checked. The work is counted on the Op.
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

// The window over `axes` spatial axes. The kernel is that of the weights where there are any, and
// the attribute must agree; else the attribute alone.
Window read_window(const NodeContext& context, std::size_t axes,
                   const std::optional<Shape>& kernel_of_weights = {});

// Positions of the window over the input. With `ceil` a last one may hang over the end, if it
// starts inside of the input or its padding at the beginning.
Shape window_positions(const NodeContext& context, const Window& window, const Shape& in_spatial,
                       bool ceil = false);

// Output of a convolution that spreads each input position (output_padding and output_shape are
// attributes of it).
Shape transposed_positions(const NodeContext& context, const Window& window,
                           const Shape& in_spatial);

// What MaxUnpool makes of the output of a pool with this window.
Shape unpooled_positions(const NodeContext& context, const Window& window, const Shape& in_spatial);

// The spatial part of an activation; without channels at the end it is N×C×D1…, else N×D1…×C.
Shape spatial_part(const Shape& shape, bool channels_last);
std::int64_t channels_of(const Shape& shape, bool channels_last);
Shape activation_shape(std::int64_t batch, std::int64_t channels, const Shape& spatial,
                       bool channels_last);

}  // namespace ridgeline::onnx
