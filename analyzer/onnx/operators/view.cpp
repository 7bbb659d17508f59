// Operators that give the same elements another shape or name: Flatten, Squeeze, Unsqueeze,
// Identity, optionals, Dropout outside training. They move nothing. For Reshape see reshape.cpp.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

void set_view(NodeContext& context, Shape shape) {
  context.set(0, context.type(0), std::move(shape));
  pass_contents(context, 0, 0);
}

void flatten(NodeContext& context) {
  context.emit(View{});
  const Shape& shape = context.shape(0);
  // The rank itself is allowed: everything becomes rows.
  const std::int64_t given = context.integer("axis", 1);
  const std::size_t axis = given == static_cast<std::int64_t>(shape.size())
                               ? shape.size()
                               : context.axis(given, shape.size());
  set_view(context, {extent(context, shape, 0, axis), extent(context, shape, axis, shape.size())});
}

void squeeze(NodeContext& context) {
  context.emit(View{});
  const Shape& from = context.shape(0);
  const auto axes = steering(context, 1, "axes");
  std::vector<bool> dropped(from.size());
  if (axes && !axes->empty()) {
    for (const std::int64_t axis : *axes) dropped[context.axis(axis, from.size())] = true;
  } else {
    std::transform(from.begin(), from.end(), dropped.begin(), [](auto size) { return size == 1; });
  }
  Shape shape;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!dropped[i])
      shape.push_back(from[i]);
    else if (from[i] != 1)
      context.fail("cannot squeeze axis " + std::to_string(i) + " of " + named(context, 0));
  }
  set_view(context, shape);
}

void unsqueeze(NodeContext& context) {
  context.emit(View{});
  const Shape& from = context.shape(0);
  const auto axes = steering(context, 1, "axes");
  if (!axes) context.fail("an Unsqueeze without axes");
  std::vector<bool> added(from.size() + axes->size(), false);
  for (const std::int64_t value : *axes) {
    const std::size_t axis = context.axis(value, added.size());
    if (added[axis]) context.fail("axis " + std::to_string(axis) + " is added twice");
    added[axis] = true;
  }
  Shape shape;
  auto next = from.begin();
  for (const bool is_new : added) shape.push_back(is_new ? 1 : *next++);
  set_view(context, shape);
}

// com.microsoft's ExpandDims takes its one axis as an input.
void expand_dims(NodeContext& context) {
  context.emit(View{});
  Shape shape = context.shape(0);
  const std::size_t axis = context.axis(steering_integer(context, 1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  set_view(context, shape);
}

// Each input becomes the output at the same position, sequences too.
void identity(NodeContext& context) {
  context.emit(View{});
  for (std::size_t i = 0; i < context.output_count() && i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    const Value& value = context.input(i);
    if (value.is_sequence) {
      context.set_sequence(i, value.type, value.shape, value.sequence_length);
    } else {
      context.set(i, value.type, context.shape(i));
      pass_contents(context, i, i);
    }
  }
}

// The same bits as another type of the same width; other widths are an Error.
void bit_cast(NodeContext& context) {
  context.emit(View{});
  const ElementType type = element_type(context.integer("to", 0));
  want_equal(context, "the width of the type to cast to", bits(type), bits(context.type(0)));
  context.set(0, type, context.shape(0));
}

// If training mode depends on data, its work is counted, as an upper bound.
bool is_training(NodeContext& context) {
  if (context.opset() < 7) return context.integer("is_test", 0) == 0;
  if (context.has(1)) context.not_data(1);
  if (!context.has(2)) return false;
  context.not_data(2);
  const auto flag = context.known_integers(2);
  return !flag || flag->size() != 1 || flag->front() != 0;
}

void dropout(NodeContext& context) {
  const Shape& shape = context.shape(0);
  if (is_training(context)) {
    context.emit(Elementwise{ElementFunction::dropout, element_count(shape)});
  } else {
    context.emit(View{});
  }
  set_view(context, shape);
  context.set(1, context.opset() < 10 ? context.type(0) : ElementType::boolean, shape);
}

// The mask has one bit per element, in 32-bit words.
void bitmask_dropout(NodeContext& context) {
  const Shape& shape = context.shape(0);
  const std::int64_t count = element_count(shape);
  context.emit(Elementwise{ElementFunction::dropout, count});
  context.not_data(1);
  context.not_data(2);
  set_view(context, shape);
  context.set(1, ElementType::uint32, {count / 32 + (count % 32 != 0 ? 1 : 0)});
}

// Known only if the node has no input: the optional is empty then.
void optional_has_element(NodeContext& context) {
  context.emit(View{});
  context.set(0, ElementType::boolean, {});
  if (context.has(0)) {
    context.not_data(0);
  } else {
    context.set_contents(0, {0.0L});
  }
}

void optional(NodeContext& context) {
  if (!context.has(0)) throw CannotInfer{"an optional that holds nothing has no shape"};
  identity(context);
}

}  // namespace

std::span<const Operator> view_operators() {
  static constexpr Operator rows[] = {
      {"", "Flatten", flatten},
      {"", "Squeeze", squeeze},
      {"", "Unsqueeze", unsqueeze},
      {"", "Identity", identity},
      {"", "BitCast", bit_cast},
      {"", "Dropout", dropout},
      {"", "Optional", optional},
      {"", "OptionalGetElement", identity},
      {"", "OptionalHasElement", optional_has_element},
      {"com.microsoft", "BitmaskDropout", bitmask_dropout},
      {"com.microsoft", "ExpandDims", expand_dims},
  };
  return rows;
}

}  // namespace ridgeline::onnx
