// Moves elements of small tensors without changing their values.
#include "analyzer/onnx/operators/folding.h"

#include <utility>

namespace ridgeline::onnx {

bool is_foldable(ElementType type, const Shape& shape) {
  if (bits(type) == 0) return false;
  const auto count = checked_element_count(shape);
  const std::size_t limit = is_floating(type) ? max_floating_contents : max_contents;
  return count && static_cast<std::size_t>(*count) <= limit;
}

const Contents* foldable(const NodeContext& context, std::size_t input) {
  if (!context.has(input)) return nullptr;
  const Value& value = context.input(input);
  if (value.is_sequence || !value.shape || !is_foldable(value.type, *value.shape)) return nullptr;
  const Contents* contents = context.contents(input);
  const auto count = static_cast<std::size_t>(element_count(*value.shape));
  return contents != nullptr && contents->size() == count ? contents : nullptr;
}

Shape strides(const Shape& shape) {
  Shape steps(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  return steps;
}

void for_each_place(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape place(shape.size(), 0);
  for (std::int64_t left = element_count(shape); left > 0; --left) {
    visit(place);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++place[axis] < shape[axis]) break;
      place[axis] = 0;
    }
  }
}

void fold_moved(NodeContext& context, std::size_t output, const Contents& from,
                const std::function<std::optional<std::int64_t>(const Shape&)>& source,
                Element fill) {
  if (!context.wants(output)) return;
  const Value& value = context.output(output);
  if (!is_foldable(value.type, *value.shape)) return;
  Contents contents;
  contents.reserve(static_cast<std::size_t>(element_count(*value.shape)));
  for_each_place(*value.shape, [&](const Shape& place) {
    const auto index = source(place);
    contents.push_back(index ? from[static_cast<std::size_t>(*index)] : fill);
  });
  context.set_contents(output, std::move(contents));
}

void pass_contents(NodeContext& context, std::size_t input, std::size_t output) {
  if (!context.wants(output)) return;
  if (const Contents* contents = foldable(context, input)) context.set_contents(output, *contents);
}

}  // namespace ridgeline::onnx
