// Operators that make tensors from attributes or from a few numbers: Constant, ConstantOfShape,
// EyeLike, Range, OneHot. Some networks generate their weights this way, so the elements of large
// outputs are never allocated.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"
#include "analyzer/onnx/walk.h"

namespace ridgeline::onnx {
namespace {

template <class Number>
void set_vector(NodeContext& context, ElementType type, std::span<const Number> values) {
  context.set(0, type, {static_cast<std::int64_t>(values.size())});
  context.set_contents(0, Contents(values.begin(), values.end()));
}

void constant(NodeContext& context) {
  context.emit(View{});
  for (const std::string_view name : {"value", "sparse_value"})
    if (const Attribute* value = context.attribute(name); value != nullptr && value->tensor) {
      const TensorProto& tensor = *value->tensor;
      context.set(0, tensor.type, tensor.shape());
      if (!context.wants(0)) return;
      context.output(0).proto = &tensor;
      context.output(0).is_initializer = true;
      return;
    }
  if (const Attribute* value = context.attribute("value_int")) {
    context.set(0, ElementType::int64, {});
    context.set_contents(0, {static_cast<long double>(value->i)});
  } else if (const Attribute* reals = context.attribute("value_float")) {
    context.set(0, ElementType::fp32, {});
    context.set_contents(0, {static_cast<long double>(reals->f)});
  } else if (const Attribute* list = context.attribute("value_ints")) {
    set_vector(context, ElementType::int64, list->ints);
  } else if (const Attribute* floats = context.attribute("value_floats")) {
    set_vector(context, ElementType::fp32, floats->floats);
  } else if (context.attribute("value_string") != nullptr) {
    context.set(0, ElementType::string, {});
  } else if (const Attribute* texts = context.attribute("value_strings")) {
    context.set(0, ElementType::string, {static_cast<std::int64_t>(texts->strings.size())});
  } else {
    context.fail("a Constant without a value");
  }
}

void constant_of_shape(NodeContext& context) {
  context.emit(Copy{});
  context.not_data(0);
  const Attribute* value = context.attribute("value");
  const TensorProto* given = value != nullptr ? value->tensor : nullptr;
  const ElementType type = given != nullptr ? given->type : ElementType::fp32;
  const Shape shape = context.needed_integers(0);
  context.set(0, type, shape);
  if (!is_foldable(type, shape)) return;
  Element fill = 0;
  if (given != nullptr) {
    const auto contents = context.walk().file().contents(*given);
    fill = contents && contents->size() == 1 ? contents->front() : std::nullopt;
  }
  context.set_contents(0, Contents(static_cast<std::size_t>(element_count(shape)), fill));
}

void eye_like(NodeContext& context) {
  context.emit(Copy{});
  context.not_data(0);
  want_rank(context, 0, 2);
  const Shape& shape = context.shape(0);
  const Attribute* dtype = context.attribute("dtype");
  const ElementType type = dtype != nullptr ? element_type(dtype->i) : context.type(0);
  context.set(0, type, shape);
  if (!is_foldable(type, shape)) return;
  const std::int64_t diagonal = context.integer("k", 0);
  Contents contents;
  for_each_place(shape, [&](const Shape& place) {
    contents.push_back(place[1] - place[0] == diagonal ? 1.0L : 0.0L);
  });
  context.set_contents(0, std::move(contents));
}

// The step is optional in com.microsoft's Range.
void range(NodeContext& context) {
  context.emit(Copy{});
  for (std::size_t i = 0; i < context.input_count(); ++i) context.not_data(i);
  const long double start = steering_number(context, 0);
  const long double limit = steering_number(context, 1);
  const long double step = context.has(2) ? steering_number(context, 2) : 1;
  if (step == 0) context.fail("the step of a Range is 0");
  // Runtimes divide in double: (3 − 0) / 0.3 makes ten steps there, but eleven in long double.
  const long double steps =
      is_floating(context.type(0))
          ? std::ceil(static_cast<double>(limit - start) / static_cast<double>(step))
          : std::ceil((limit - start) / step);
  if (!(steps <= static_cast<long double>(max_dimension)))
    context.fail("a Range of more than 2^40 elements");
  const auto count = static_cast<std::int64_t>(std::max(steps, 0.0L));
  context.set(0, context.type(0), {count});
  if (!is_foldable(context.type(0), {count})) return;
  Contents contents;
  for (std::int64_t i = 0; i < count; ++i)
    contents.push_back(start + static_cast<long double>(i) * step);
  context.set_contents(0, std::move(contents));
}

void one_hot(NodeContext& context) {
  context.emit(Copy{});
  Shape shape = context.shape(0);
  const long double depth = steering_number(context, 1);
  if (!(depth >= 0 && depth <= static_cast<long double>(max_dimension)))
    context.fail("the depth of a OneHot is negative or more than 2^40");
  const std::size_t axis = context.axis(context.integer("axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(depth));
  context.set(0, context.type(2), shape);
}

}  // namespace

std::span<const Operator> constant_operators() {
  static constexpr Operator rows[] = {
      {"", "Constant", constant}, {"", "ConstantOfShape", constant_of_shape},
      {"", "EyeLike", eye_like},  {"", "Range", range},
      {"", "OneHot", one_hot},    {"com.microsoft", "Range", range},
  };
  return rows;
}

}  // namespace ridgeline::onnx
