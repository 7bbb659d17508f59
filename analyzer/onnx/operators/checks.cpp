// The checks that rules share. Messages give the numbers.
#include "analyzer/onnx/operators/checks.h"

#include <fmt/format.h>

#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {

void want_equal(const NodeContext& context, const std::string& noun, std::int64_t size,
                std::int64_t wanted) {
  if (size != wanted) context.fail(fmt::format("{} is {}, not {}", noun, size, wanted));
}

void want_shape(const NodeContext& context, std::size_t input, const Shape& wanted) {
  if (context.shape(input) != wanted)
    context.fail(
        fmt::format("{} does not have the shape {}", named(context, input), to_string(wanted)));
}

std::int64_t divided(const NodeContext& context, const std::string& noun, std::int64_t size,
                     std::int64_t parts) {
  if (parts <= 0 || size % parts != 0)
    context.fail(
        fmt::format("{} is {}, which cannot be divided into {} equal parts", noun, size, parts));
  return size / parts;
}

std::int64_t added(const NodeContext& context, std::initializer_list<std::int64_t> sizes) {
  std::int64_t result = 0;
  for (const std::int64_t size : sizes)
    if (__builtin_add_overflow(result, size, &result))
      context.fail("a sum of its sizes does not fit into 63 bits");
  return result;
}

std::int64_t wrapped_index(const NodeContext& context, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    context.fail(fmt::format("index {} into an axis of {} elements", index, size));
  return index < 0 ? index + size : index;
}

std::int64_t extent(const NodeContext& context, const Shape& shape, std::size_t first,
                    std::size_t last) {
  return multiplied(context, Shape(shape.begin() + static_cast<std::ptrdiff_t>(first),
                                   shape.begin() + static_cast<std::ptrdiff_t>(last)));
}

}  // namespace ridgeline::onnx
