// Batches of sequences with padding removed, restored, or cut into windows. The number of tokens
// left is data, so all of them are counted.
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

void remove_padding(NodeContext& context) {
  want_rank(context, 0, 3);
  const Shape& from = context.shape(0);
  context.set(0, context.type(0), {multiplied(context, {from[0], from[1]}), from[2]});
  context.set(1, ElementType::int32, {from[0], from[1]});
  context.set(2, ElementType::int32, {added(context, {from[0], 1})});
  context.set(3, ElementType::int32, {1});
  context.set_is_bound();
  context.emit(Copy{});
}

void restore_padding(NodeContext& context) {
  want_rank(context, 0, 2);
  want_rank(context, 1, 2);
  const Shape& offsets = context.shape(1);
  context.set(0, context.type(0), {offsets[0], offsets[1], context.shape(0)[1]});
  context.emit(Copy{});
}

// Rows of the flattened leading axes, by index; a second output holds the sizes of these axes.
void flatten_and_unpad(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  const Shape& from = context.shape(0);
  Shape shape{element_count(context.shape(1))};
  shape.insert(shape.end(), from.begin() + 2, from.end());
  context.set(0, context.type(0), shape);
  context.set(1, ElementType::int64, {2});
  context.set_contents(1, {static_cast<long double>(from[0]), static_cast<long double>(from[1])});
  context.emit(Gather{element_count(shape)});
}

void pad_and_unflatten(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  const Shape& from = context.shape(0);
  context.not_data(2);
  context.emit(Copy{});
  Shape shape = context.needed_integers(2);
  shape.insert(shape.end(), from.begin() + 1, from.end());
  context.set(0, context.type(0), shape);
}

// Windows along one axis, possibly overlapping; their elements form a new last axis.
void unfold(NodeContext& context) {
  Shape shape = context.shape(0);
  const std::size_t axis = context.axis(context.integer("dim", -1), shape.size());
  const std::int64_t size = context.integer("size", 0), step = context.integer("step", 1);
  if (size < 1 || size > shape[axis] || step < 1)
    context.fail("windows of " + std::to_string(size) + " in steps of " + std::to_string(step) +
                 " over " + std::to_string(shape[axis]) + " elements");
  shape[axis] = (shape[axis] - size) / step + 1;
  shape.push_back(size);
  context.set(0, context.type(0), shape);
  context.emit(Copy{});
}

}  // namespace

std::span<const Operator> ragged_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "RemovePadding", remove_padding},
      {"com.microsoft", "RestorePadding", restore_padding},
      {"com.microsoft", "FlattenAndUnpad", flatten_and_unpad},
      {"com.microsoft", "PadAndUnflatten", pad_and_unflatten},
      {"com.microsoft", "UnfoldTensor", unfold},
  };
  return rows;
}

}  // namespace ridgeline::onnx
