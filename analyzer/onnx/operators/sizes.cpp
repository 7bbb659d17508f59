// Checked arithmetic on shapes for operator rules, and its error messages.
#include "analyzer/onnx/operators/sizes.h"

#include <fmt/format.h>

#include <optional>

namespace ridgeline::onnx {
namespace {

template <typename Sizes>
std::int64_t checked_product(const NodeContext& context, const Sizes& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes)
    if (size == 0) return 0;
  for (const std::int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      context.fail(fmt::format("the product of {} is not within 0 … 2^63", fmt::join(sizes, ", ")));
  return product;
}

}  // namespace

std::int64_t multiplied(const NodeContext& context, std::initializer_list<std::int64_t> sizes) {
  return checked_product(context, sizes);
}

std::int64_t multiplied(const NodeContext& context, const Shape& sizes) {
  return checked_product(context, sizes);
}

Shape broadcast_shapes(const NodeContext& context, const Shape& a, const Shape& b) {
  const std::optional<Shape> shape = broadcast(a, b);
  if (!shape)
    context.fail(
        fmt::format("shapes {} and {} do not broadcast together", to_string(a), to_string(b)));
  return *shape;
}

Shape broadcast_inputs(const NodeContext& context, const std::vector<std::size_t>& inputs) {
  Shape shape;
  for (const std::size_t input : inputs)
    shape = broadcast_shapes(context, shape, context.shape(input));
  return shape;
}

void want_broadcastable_to(const NodeContext& context, std::size_t input, const Shape& shape) {
  if (broadcast(shape, context.shape(input)) != shape)
    context.fail(
        fmt::format("{} does not broadcast into {}", named(context, input), to_string(shape)));
}

void want_vector(const NodeContext& context, std::size_t input, std::int64_t length,
                 const std::string& what) {
  if (context.shape(input) != Shape{length})
    context.fail(fmt::format("{} is not a vector for {} {}", named(context, input), length, what));
}

void want_rank_at_least(const NodeContext& context, std::size_t input, std::size_t rank) {
  if (context.shape(input).size() < rank)
    context.fail(fmt::format("{} has fewer than {} dimensions", named(context, input), rank));
}

void want_rank(const NodeContext& context, std::size_t input, std::size_t rank) {
  if (context.shape(input).size() != rank)
    context.fail(fmt::format("{} does not have {} dimensions", named(context, input), rank));
}

std::string named(const NodeContext& context, std::size_t input) {
  return fmt::format("'{}' {}", context.input(input).name, to_string(context.shape(input)));
}

}  // namespace ridgeline::onnx
