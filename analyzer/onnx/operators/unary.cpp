// Element-wise operators of one operand that shape arithmetic may need, and conversions. For
// activations, on which no shape depends, see onnx/operators/activation.cpp.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/element_folding.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

using UnaryFold = long double (*)(long double);

// Non-finite results become unknown, so domains need no check.
template <ElementFunction function, UnaryFold compute>
void unary(NodeContext& context) {
  unary_like_input(context, function);
  fold(context, {0}, [](std::span<const long double> x) { return Element(compute(x[0])); });
}

long double absolute(long double x) { return std::fabs(x); }
long double negated(long double x) { return -x; }
long double sign(long double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
long double floor(long double x) { return std::floor(x); }
long double ceil(long double x) { return std::ceil(x); }
long double round(long double x) { return std::nearbyint(x); }  // halves to even
long double reciprocal(long double x) { return 1 / x; }
long double square_root(long double x) { return std::sqrt(x); }
long double exponential(long double x) { return std::exp(x); }
long double logarithm(long double x) { return std::log(x); }
long double rectified(long double x) { return std::max(x, 0.0L); }

void logical_not(NodeContext& context) {
  context.set(0, ElementType::boolean, context.shape(0));
  emit_elementwise(context, ElementFunction::logical, element_count(context.shape(0)));
  fold(context, {0}, [](std::span<const long double> x) { return Element(x[0] == 0 ? 1 : 0); });
}

void bitwise_not(NodeContext& context) {
  unary_like_input(context, ElementFunction::bitwise);
  const ElementType type = context.type(0);
  fold(context, {0}, [type](std::span<const long double> x) {
    // −x − 1 in two's complement; 2^bits − 1 − x for unsigned types.
    const Element complement = as_element(-x[0] - 1, type);
    return complement ? complement : Element(std::ldexp(1.0L, bits(type)) - 1 - x[0]);
  });
}

// IsNaN, IsInf.
void is_special(NodeContext& context) {
  context.set(0, ElementType::boolean, context.shape(0));
  emit_elementwise(context, ElementFunction::compare, element_count(context.shape(0)));
}

void convert(NodeContext& context, ElementType type) {
  const Shape& shape = context.shape(0);
  context.set(0, type, shape);
  emit_elementwise(context, ElementFunction::cast, element_count(shape));
  fold(context, {0}, [](std::span<const long double> x) { return Element(x[0]); });
}

// The type is a name in opset 1, a number later.
void cast(NodeContext& context) {
  const Attribute* to = context.attribute("to");
  if (to == nullptr) context.fail("the type to cast to is missing");
  ElementType type = element_type(to->i);
  if (!to->s.empty()) {
    struct TypeName {
      std::string_view name;
      std::int64_t number;
    };
    // Names of TensorProto.DataType.
    constexpr TypeName names[] = {{"FLOAT", 1},  {"UINT8", 2},    {"INT8", 3},    {"UINT16", 4},
                                  {"INT16", 5},  {"INT32", 6},    {"INT64", 7},   {"STRING", 8},
                                  {"BOOL", 9},   {"FLOAT16", 10}, {"DOUBLE", 11}, {"UINT32", 12},
                                  {"UINT64", 13}};
    for (const TypeName& row : names)
      if (row.name == to->s) type = element_type(row.number);
  }
  if (type == ElementType::unknown)
    context.fail("the type to cast to is number " + std::to_string(to->i) +
                 ", which ONNX does not define");
  convert(context, type);
}

void cast_like(NodeContext& context) {
  context.not_data(1);
  convert(context, context.type(1));
}

// Limits are attributes before opset 11, scalar inputs since; each is optional.
void clip(NodeContext& context) {
  unary_like_input(context, ElementFunction::clip);
  const auto limit = [&](std::size_t input, std::string_view name) -> std::optional<long double> {
    if (context.opset() < 11) {
      const Attribute* found = context.attribute(name);
      return found == nullptr ? std::nullopt : std::optional<long double>(found->f);
    }
    const Contents* contents = context.contents(input);
    return contents != nullptr && contents->size() == 1 ? contents->front() : std::nullopt;
  };
  if (!may_have_contents(context, {0})) return;
  const auto low = limit(1, "min");
  const auto high = limit(2, "max");
  // If a limit depends on data, so do all elements.
  if ((context.has(1) && !low) || (context.has(2) && !high)) return;
  fold(context, {0}, [&](std::span<const long double> x) {
    long double value = x[0];
    if (low) value = std::max(value, *low);
    if (high) value = std::min(value, *high);
    return Element(value);
  });
}

}  // namespace

std::span<const Operator> unary_operators() {
  static constexpr Operator rows[] = {
      {"", "Abs", unary<ElementFunction::absolute, absolute>},
      {"", "Neg", unary<ElementFunction::negate, negated>},
      {"", "Sign", unary<ElementFunction::sign, sign>},
      {"", "Floor", unary<ElementFunction::round, floor>},
      {"", "Ceil", unary<ElementFunction::round, ceil>},
      {"", "Round", unary<ElementFunction::round, round>},
      {"", "Reciprocal", unary<ElementFunction::reciprocal, reciprocal>},
      {"", "Sqrt", unary<ElementFunction::sqrt, square_root>},
      {"", "Exp", unary<ElementFunction::exp, exponential>},
      {"", "Log", unary<ElementFunction::log, logarithm>},
      {"", "Relu", unary<ElementFunction::relu, rectified>},
      {"", "Not", logical_not},
      {"", "BitwiseNot", bitwise_not},
      {"", "IsNaN", is_special},
      {"", "IsInf", is_special},
      {"", "Cast", cast},
      {"", "CastLike", cast_like},
      {"", "Clip", clip},
  };
  return rows;
}

}  // namespace ridgeline::onnx
