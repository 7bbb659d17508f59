// Reads sliding windows from attributes and places them. Where implementations differ (ceil_mode,
// auto_pad together with pads), follows onnxruntime.
#include "analyzer/onnx/operators/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::onnx {
namespace {

// Small enough that no product of two attributes and no sum with a dimension overflows.
constexpr std::int64_t largest_attribute = std::int64_t{1} << 30;

Shape checked_list(const NodeContext& context, std::string_view name, std::size_t length,
                   std::int64_t smallest, std::int64_t fallback) {
  const auto list = context.integers(name);
  if (!list || list->empty()) return Shape(length, fallback);
  if (list->size() != length)
    context.fail(fmt::format("{} has {} entries, its input wants {}", name, list->size(), length));
  for (const std::int64_t value : *list)
    if (value < smallest || value > largest_attribute)
      context.fail(fmt::format("{} has an entry {}, outside of {} … 2^30", name, value, smallest));
  return *list;
}

AutoPad read_auto_pad(const NodeContext& context) {
  const std::string_view name = context.text("auto_pad", "NOTSET");
  if (name.empty() || name == "NOTSET") return AutoPad::none;
  if (name == "SAME_UPPER" || name == "SAME_LOWER") return AutoPad::same;
  if (name == "VALID") return AutoPad::valid;
  context.fail(fmt::format("auto_pad '{}' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID", name));
}

std::int64_t span_of(const Window& window, std::size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

// stride·(positions − 1) + span of the window: the extent that this many positions cover.
std::int64_t covered(const NodeContext& context, const Window& window, std::size_t axis,
                     std::int64_t positions) {
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(positions - 1, window.strides[axis], &extent) ||
      __builtin_add_overflow(extent, span_of(window, axis), &extent) || extent > max_dimension)
    context.fail(fmt::format("{} positions with stride {} reach beyond 2^40", positions,
                             window.strides[axis]));
  return extent;
}

}  // namespace

Window read_window(const NodeContext& context, std::size_t axes,
                   const std::optional<Shape>& kernel_of_weights) {
  Window window;
  const auto kernel = context.integers("kernel_shape");
  if (kernel_of_weights) {
    if (kernel && !kernel->empty() && *kernel != *kernel_of_weights)
      context.fail(fmt::format("kernel_shape {} does not agree with the {} of the weights",
                               to_string(*kernel), to_string(*kernel_of_weights)));
    window.kernel = *kernel_of_weights;
    for (const std::int64_t size : window.kernel)
      if (size < 1 || size > largest_attribute)
        context.fail(fmt::format("a kernel of {} is empty or too large", to_string(window.kernel)));
  } else {
    if (!kernel) context.fail("kernel_shape is missing");
    window.kernel = checked_list(context, "kernel_shape", axes, 1, 1);
  }
  window.strides = checked_list(context, "strides", axes, 1, 1);
  window.dilations = checked_list(context, "dilations", axes, 1, 1);
  window.auto_pad = read_auto_pad(context);
  Shape pads(2 * axes, 0);
  if (window.auto_pad == AutoPad::none)
    pads = checked_list(context, "pads", 2 * axes, -largest_attribute, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  return window;
}

Shape window_positions(const NodeContext& context, const Window& window, const Shape& in_spatial,
                       bool ceil) {
  Shape out;
  for (std::size_t i = 0; i < in_spatial.size(); ++i) {
    const std::int64_t stride = window.strides[i];
    if (window.auto_pad == AutoPad::same) {
      out.push_back((in_spatial[i] + stride - 1) / stride);
      continue;
    }
    const std::int64_t padded = in_spatial[i] + window.pads_begin[i] + window.pads_end[i];
    const std::int64_t room = padded - span_of(window, i);
    if (room < 0 && in_spatial[i] != 0)
      context.fail_small(fmt::format("a window of {} does not fit into the {} of spatial axis {}{}",
                                     span_of(window, i), padded, i,
                                     padded == in_spatial[i] ? "" : " with its padding"));
    if (room < 0) {
      out.push_back(0);
      continue;
    }
    std::int64_t last = room / stride;
    if (ceil && room % stride != 0) ++last;
    if (ceil && last * stride >= in_spatial[i] + window.pads_begin[i]) --last;
    out.push_back(last + 1);
  }
  return out;
}

Shape transposed_positions(const NodeContext& context, const Window& window,
                           const Shape& in_spatial) {
  const std::size_t axes = in_spatial.size();
  if (const auto given = context.integers("output_shape"); given && !given->empty()) {
    // Spatial sizes; some files include batch and channels.
    if (given->size() != axes && given->size() != axes + 2)
      context.fail(
          fmt::format("output_shape has {} entries for {} spatial axes", given->size(), axes));
    return {given->end() - static_cast<std::ptrdiff_t>(axes), given->end()};
  }
  const Shape output_padding = checked_list(context, "output_padding", axes, 0, 0);
  Shape out;
  for (std::size_t i = 0; i < axes; ++i) {
    std::int64_t size = 0;
    if (in_spatial[i] > 0) {
      const std::int64_t full = covered(context, window, i, in_spatial[i]) + output_padding[i];
      size = full - window.pads_begin[i] - window.pads_end[i];
      // Pads until the output is input × stride; a smaller kernel leaves it smaller.
      if (window.auto_pad == AutoPad::same)
        size = std::min(full, in_spatial[i] * window.strides[i]);
    }
    if (size < 0)
      context.fail(fmt::format("the output of spatial axis {} would have {} positions", i, size));
    out.push_back(size);
  }
  return out;
}

Shape unpooled_positions(const NodeContext& context, const Window& window,
                         const Shape& in_spatial) {
  Shape out;
  for (std::size_t i = 0; i < in_spatial.size(); ++i) {
    const std::int64_t size =
        covered(context, window, i, in_spatial[i]) - window.pads_begin[i] - window.pads_end[i];
    if (size < 0)
      context.fail(fmt::format("the output of spatial axis {} would have {} positions", i, size));
    out.push_back(size);
  }
  return out;
}

Shape spatial_part(const Shape& shape, bool channels_last) {
  return channels_last ? Shape(shape.begin() + 1, shape.end() - 1)
                       : Shape(shape.begin() + 2, shape.end());
}

std::int64_t channels_of(const Shape& shape, bool channels_last) {
  return channels_last ? shape.back() : shape[1];
}

Shape activation_shape(std::int64_t batch, std::int64_t channels, const Shape& spatial,
                       bool channels_last) {
  Shape shape{batch};
  if (!channels_last) shape.push_back(channels);
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  if (channels_last) shape.push_back(channels);
  return shape;
}

}  // namespace ridgeline::onnx
