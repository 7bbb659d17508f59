// Operators that interpolate an image at points from another tensor: grids, regions of interest,
// crops. The positions of the points are data; their number follows from shapes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

Interpolation sampling_mode(const NodeContext& context, std::string_view fallback) {
  const std::string_view mode = context.text("mode", fallback);
  if (mode == "nearest") return Interpolation::nearest;
  if (mode == "linear" || mode == "bilinear") return Interpolation::linear;
  if (mode == "cubic" || mode == "bicubic") return Interpolation::cubic;
  context.fail(fmt::format("its mode '{}' is none of nearest, linear, cubic", mode));
}

// An image N×C×D1…Dr and a grid N×E1…Er×r.
void grid_sample(NodeContext& context) {
  want_rank_at_least(context, 0, 3);
  const Shape& image = context.shape(0);
  want_rank(context, 1, image.size());
  const Shape& grid = context.shape(1);
  const auto axes = static_cast<std::int64_t>(image.size() - 2);
  if (grid.front() != image.front() || grid.back() != axes)
    context.fail(
        fmt::format("the grid {} does not fit the image {}", to_string(grid), to_string(image)));
  Shape shape{image[0], image[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  context.set(0, context.type(0), shape);
  Resize op;
  op.kind = sampling_mode(context, "linear");
  op.axes = static_cast<int>(axes);
  op.out_elements = element_count(shape);
  context.emit(op);
}

// N×2×3 or N×3×4 matrices, applied to every position of an image of the given size (N×C×H×W, or
// N×C×D×H×W).
void affine_grid(NodeContext& context) {
  want_rank(context, 0, 3);
  const Shape& theta = context.shape(0);
  const std::int64_t axes = theta[1];
  if (theta[2] != axes + 1)
    context.fail(fmt::format("its matrices are {}, not Nx2x3 or Nx3x4", to_string(theta)));
  Shape shape;
  if (const Shape* declared = context.declared_instead_of({1}, 0)) {
    shape = *declared;
  } else {
    context.not_data(1);
    shape = context.needed_integers(1);
    if (shape.size() >= 2) shape.erase(shape.begin() + 1);
    shape.push_back(axes);
  }
  if (static_cast<std::int64_t>(shape.size()) != axes + 2 || theta[0] != shape[0])
    context.fail(
        fmt::format("matrices {} do not fit a grid of {}", to_string(theta), to_string(shape)));
  context.set(0, context.type(0), shape);
  MatMul op;
  op.batch = shape[0];
  op.m = extent(context, shape, 1, shape.size() - 1);
  op.n = axes;
  op.k = axes + 1;
  context.emit(op);
}

// Points averaged per output along one axis, if the region is the whole image.
std::int64_t points_along(std::int64_t image, std::int64_t out) {
  return std::max<std::int64_t>(1, (image + out - 1) / out);
}

void roi_align(NodeContext& context) {
  want_rank(context, 0, 4);
  want_rank(context, 1, 2);
  const Shape& image = context.shape(0);
  const std::int64_t height = context.integer("output_height", 1);
  const std::int64_t width = context.integer("output_width", 1);
  const std::int64_t ratio = context.integer("sampling_ratio", 0);
  if (height < 1 || width < 1 || ratio < 0)
    context.fail(fmt::format("outputs of {}x{} with a sampling ratio of {}", height, width, ratio));
  const Shape shape{context.dimension(1, 0), image[1], height, width};
  context.set(0, context.type(0), shape);
  Resize op;
  op.kind = Interpolation::linear;
  op.axes = 2;
  op.out_elements = element_count(shape);
  if (ratio > 0) {
    op.samples = multiplied(context, {ratio, ratio});
  } else {
    op.samples =
        multiplied(context, {points_along(image[2], height), points_along(image[3], width)});
    context.warn(
        "how many points a region is sampled at depends on data: counted for regions of "
        "the whole image");
  }
  context.emit(op);
}

// Inputs: X, regions, indices of images, size of the crops.
void crop_and_resize(NodeContext& context) {
  want_rank(context, 0, 4);
  want_rank(context, 1, 2);
  Shape shape;
  if (const Shape* declared = context.declared_instead_of({3}, 0)) {
    shape = *declared;
  } else {
    context.not_data(3);
    const Shape size = context.needed_integers(3);
    if (size.size() != 2 || size[0] < 1 || size[1] < 1)
      context.fail(fmt::format("the size of the crops is {}", to_string(size)));
    shape = {context.dimension(1, 0), context.dimension(0, 1), size[0], size[1]};
    context.set(0, context.type(0), shape);
  }
  Resize op;
  op.kind = sampling_mode(context, "bilinear");
  op.axes = 2;
  op.out_elements = element_count(shape);
  context.emit(op);
}

}  // namespace

std::span<const Operator> sampling_operators() {
  static constexpr Operator rows[] = {
      {"", "AffineGrid", affine_grid},
      {"", "GridSample", grid_sample},
      {"", "RoiAlign", roi_align},
      {"com.microsoft", "CropAndResize", crop_and_resize},
      {"com.microsoft", "GridSample", grid_sample},
  };
  return rows;
}

}  // namespace ridgeline::onnx
