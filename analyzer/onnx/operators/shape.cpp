// Shape and Size: outputs that follow from the input's shape. They move nothing and read no
// element.
#include <algorithm>

#include "analyzer/onnx/operators/families.h"

namespace ridgeline::onnx {
namespace {

void shape(NodeContext& context) {
  context.emit(View{});
  context.not_data(0);
  const Shape& dims = context.shape(0);
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamped = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = clamped(context.integer("start", 0));
  const std::int64_t end = std::max(start, clamped(context.integer("end", rank)));
  context.set(0, ElementType::int64, {end - start});
  context.set_contents(0, Contents(dims.begin() + start, dims.begin() + end));
}

void size(NodeContext& context) {
  context.emit(View{});
  context.not_data(0);
  context.set(0, ElementType::int64, {});
  context.set_contents(0, {static_cast<long double>(element_count(context.shape(0)))});
}

}  // namespace

std::span<const Operator> shape_operators() {
  static constexpr Operator rows[] = {
      {"", "Shape", shape},
      {"", "Size", size},
  };
  return rows;
}

}  // namespace ridgeline::onnx
