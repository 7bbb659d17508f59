// Resize and Upsample of all opsets: output sizes from scales or sizes, which are attributes or
// inputs. For sampling at points from a grid or regions see onnx/operators/sampling.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

Interpolation interpolation_of(const NodeContext& context) {
  const std::string_view mode = context.text("mode", "nearest");
  if (mode == "nearest") return Interpolation::nearest;
  if (mode == "linear" || mode == "bilinear" || mode == "trilinear") return Interpolation::linear;
  if (mode == "cubic" || mode == "bicubic") return Interpolation::cubic;
  context.fail(fmt::format("its mode '{}' is none of nearest, linear, cubic", mode));
}

// The axes that scales and sizes apply to; all by default.
std::vector<std::size_t> resized_axes(const NodeContext& context) {
  const std::size_t rank = context.shape(0).size();
  std::vector<std::size_t> axes;
  if (const auto given = context.integers("axes"); given && !given->empty())
    for (const std::int64_t axis : *given) axes.push_back(context.axis(axis, rank));
  else
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

void check_count(const NodeContext& context, std::string_view noun, std::size_t found,
                 std::size_t wanted) {
  if (found != wanted)
    context.fail(fmt::format("{} {} for {} axes of {}", found, noun, wanted, named(context, 0)));
}

// Runtimes multiply in single precision: 10 × 0.7 is 7 there, but 6 in double.
std::int64_t scaled(const NodeContext& context, std::int64_t size, float scale) {
  const float product = static_cast<float>(size) * scale;
  if (!(scale > 0) || !(product <= static_cast<float>(max_dimension)))
    context.fail(fmt::format("a size of {} cannot be scaled by {}", size, scale));
  return static_cast<std::int64_t>(std::floor(product));
}

Shape shape_by_scales(const NodeContext& context, const std::vector<std::size_t>& axes,
                      const std::vector<float>& scales) {
  check_count(context, "scales", scales.size(), axes.size());
  Shape shape = context.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i)
    shape[axes[i]] = scaled(context, shape[axes[i]], scales[i]);
  return shape;
}

// The given sizes, or the largest (smallest) image of the input's aspect ratio inside (around)
// them.
Shape shape_by_sizes(NodeContext& context, const std::vector<std::size_t>& axes,
                     const std::vector<std::int64_t>& sizes) {
  check_count(context, "sizes", sizes.size(), axes.size());
  Shape shape = context.shape(0);
  const std::string_view policy = context.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (context.passes_batch(axes[i], axes[i]))
        context.replaced_batch();
      else
        shape[axes[i]] = sizes[i];
    }
    return shape;
  }
  if (policy != "not_larger" && policy != "not_smaller")
    context.fail(
        fmt::format("keep_aspect_ratio_policy '{}' is none of stretch, not_larger, "
                    "not_smaller",
                    policy));
  std::vector<float> ratios;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (shape[axes[i]] == 0) context.fail("an empty image has no proportions");
    ratios.push_back(static_cast<float>(sizes[i]) / static_cast<float>(shape[axes[i]]));
  }
  const float ratio = policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                             : *std::max_element(ratios.begin(), ratios.end());
  for (const std::size_t axis : axes) {
    const float size = std::round(ratio * static_cast<float>(shape[axis]));
    if (!(size >= 0 && size <= static_cast<float>(max_dimension)))
      context.fail(fmt::format("a size of {} cannot be scaled by {}", shape[axis], ratio));
    shape[axis] = static_cast<std::int64_t>(size);
  }
  return shape;
}

bool is_given(const NodeContext& context, std::size_t input) {
  return context.has(input) && context.shape(input) != Shape{0};
}

std::vector<float> needed_scales(NodeContext& context, std::size_t input) {
  const Contents* contents = context.contents(input);
  const auto unknown = [](const Element& element) { return !element; };
  if (contents == nullptr || std::any_of(contents->begin(), contents->end(), unknown))
    throw CannotInfer{fmt::format("the values of '{}' depend on data", context.input(input).name)};
  std::vector<float> scales;
  for (const Element& element : *contents) scales.push_back(static_cast<float>(*element));
  return scales;
}

void finish(NodeContext& context, const Shape& shape) {
  const Shape& data = context.shape(0);
  Resize op;
  op.kind = interpolation_of(context);
  op.axes = 0;
  op.out_elements = element_count(shape);
  const bool antialias = context.integer("antialias", 0) != 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == data[axis]) continue;
    ++op.axes;
    // The filter is stretched over all input points that one output covers.
    if (antialias && shape[axis] > 0)
      op.samples = multiplied(
          context,
          {op.samples, std::max<std::int64_t>(1, (data[axis] + shape[axis] - 1) / shape[axis])});
  }
  context.set(0, context.type(0), shape);
  context.emit(op);
}

// Inputs: X, scales in opset 10; X, region, scales, sizes since. The region shifts the image and
// changes no size.
void resize(NodeContext& context) {
  for (std::size_t input = 1; input < context.input_count(); ++input)
    if (context.has(input)) context.not_data(input);
  const std::vector<std::size_t> axes = resized_axes(context);
  const std::size_t scales = context.opset() < 11 ? 1 : 2;
  const Shape* declared = context.declared_instead_of({scales, 3}, 0);
  if (declared != nullptr && declared->size() == context.shape(0).size())
    return finish(context, Shape(*declared));
  if (context.opset() >= 11 && is_given(context, 3))
    finish(context, shape_by_sizes(context, axes, context.needed_integers(3)));
  else if (is_given(context, scales))
    finish(context, shape_by_scales(context, axes, needed_scales(context, scales)));
  else
    context.fail("it has neither scales nor sizes");
}

// Scales are an input since opset 9, one attribute in 7, and one attribute per axis before.
void upsample(NodeContext& context) {
  const std::vector<std::size_t> axes = resized_axes(context);
  const Shape* declared = context.declared_instead_of({1}, 0);
  if (declared != nullptr && declared->size() == context.shape(0).size())
    return finish(context, Shape(*declared));
  if (context.has(1)) {
    context.not_data(1);
    return finish(context, shape_by_scales(context, axes, needed_scales(context, 1)));
  }
  if (const Attribute* scales = context.attribute("scales")) {
    std::vector<float> all(scales->floats.begin(), scales->floats.end());
    // com.microsoft.nchwc uses integers.
    for (const std::int64_t whole : scales->ints) all.push_back(static_cast<float>(whole));
    return finish(context, shape_by_scales(context, axes, all));
  }
  want_rank(context, 0, 4);
  finish(context, shape_by_scales(context, axes,
                                  {1, 1, static_cast<float>(context.real("height_scale", 0)),
                                   static_cast<float>(context.real("width_scale", 0))}));
}

}  // namespace

std::span<const Operator> resize_operators() {
  static constexpr Operator rows[] = {
      {"", "Resize", resize},
      {"", "Upsample", upsample},
      {"com.microsoft.nchwc", "Upsample", upsample},
  };
  return rows;
}

}  // namespace ridgeline::onnx
