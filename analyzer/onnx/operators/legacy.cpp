// Experimental operators of the first opsets, still found at the start or end of old image
// networks. The specification dropped them; onnxruntime runs them.
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// The border is left, top, right, bottom; the scale is height and width.
void crop(NodeContext& context) {
  want_rank(context, 0, 4);
  Shape shape = context.shape(0);
  const auto border = context.integers("border");
  const auto scale = context.integers("scale");
  if (!border || border->size() != 4) context.fail("a Crop without a border of 4 numbers");
  for (const std::int64_t side : *border)
    if (side < 0 || side > max_dimension)
      context.fail("a Crop with a border of " + std::to_string(side));
  if (scale && !scale->empty()) {
    want_equal(context, "the number of scales", static_cast<std::int64_t>(scale->size()), 2);
    shape[2] = (*scale)[0];
    shape[3] = (*scale)[1];
  } else {
    shape[2] = added(context, {shape[2], -(*border)[1], -(*border)[3]});
    shape[3] = added(context, {shape[3], -(*border)[0], -(*border)[2]});
  }
  context.set(0, context.type(0), shape);
  context.emit(Copy{element_count(shape)});
}

// Scales pixels and adds a bias per channel.
void image_scaler(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(0));
  context.set(0, context.type(0), context.shape(0));
  context.emit(Elementwise{ElementFunction::multiply, count});
  context.emit(Elementwise{ElementFunction::add, count});
}

}  // namespace

std::span<const Operator> legacy_operators() {
  static constexpr Operator rows[] = {
      {"", "Crop", crop},
      {"", "ImageScaler", image_scaler},
  };
  return rows;
}

}  // namespace ridgeline::onnx
