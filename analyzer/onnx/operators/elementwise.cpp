// Element-wise operators of two and more operands: arithmetic, comparison, logic, selection.
// Elements are folded exactly as ONNX defines them, since shapes are computed with them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "analyzer/onnx/operators/element_folding.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// The second operand's shape, aligned with the first. Before opset 7 it was broadcast only with the
// attribute `broadcast`, and then along the axes from `axis` on.
Shape second_shape(const NodeContext& context) {
  const Shape& a = context.shape(0);
  Shape b = context.shape(1);
  if (context.opset() >= 7) return b;
  if (context.integer("broadcast", 0) == 0 && a != b)
    context.fail(fmt::format("{} and {} differ, and the node does not say that it broadcasts",
                             named(context, 0), named(context, 1)));
  if (const Attribute* from = context.attribute("axis")) {
    const std::size_t axis = context.axis(from->i, std::max<std::size_t>(a.size(), 1));
    while (axis + b.size() < a.size()) b.push_back(1);
  }
  return b;
}

using BinaryFold = Element (*)(const NodeContext&, long double, long double);

// A comparison yields bool, everything else the operands' type.
enum class BinaryResult { operand, boolean };

template <ElementFunction function, BinaryFold combine, BinaryResult result = BinaryResult::operand>
void binary(NodeContext& context) {
  const Shape& a = context.shape(0);
  const Shape b = second_shape(context);
  const Shape shape = broadcast_shapes(context, a, b);
  const ElementType type = first_known_type(context, {0, 1});
  context.set(0, result == BinaryResult::boolean ? ElementType::boolean : type, shape);
  emit_in(context, Elementwise{function, element_count(shape)}, type);
  fold(context, {0, 1}, {a, b}, [&](std::span<const long double> operands) {
    return combine(context, operands[0], operands[1]);
  });
}

bool of_integers(const NodeContext& context) { return is_integer(context.type(0)); }

Element add(const NodeContext&, long double a, long double b) { return a + b; }
Element subtract(const NodeContext&, long double a, long double b) { return a - b; }
Element multiply(const NodeContext&, long double a, long double b) { return a * b; }

Element divide(const NodeContext& context, long double a, long double b) {
  if (b == 0) return std::nullopt;
  return of_integers(context) ? std::trunc(a / b) : a / b;
}

// Takes the sign of the divisor, or with fmod that of the dividend, as in C.
Element modulo(const NodeContext& context, long double a, long double b) {
  if (b == 0) return std::nullopt;
  const long double rest = std::fmod(a, b);
  const bool as_in_c = context.integer("fmod", 0) != 0;
  return !as_in_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Element power(const NodeContext& context, long double a, long double b) {
  if (!of_integers(context) || b < 0 || b != std::trunc(b)) return std::pow(a, b);
  // Exact for integers; no type holds elements beyond 2^64.
  long double result = 1;
  for (long double left = b; left > 0 && std::fabs(result) < 0x1p64L; --left) {
    if (a == 0 || a == 1) return a;
    if (a == -1) return std::fmod(b, 2.0L) == 0 ? 1 : -1;
    result *= a;
  }
  return result;
}

Element equal(const NodeContext&, long double a, long double b) { return a == b; }
Element greater(const NodeContext&, long double a, long double b) { return a > b; }
Element less(const NodeContext&, long double a, long double b) { return a < b; }
Element at_least(const NodeContext&, long double a, long double b) { return a >= b; }
Element at_most(const NodeContext&, long double a, long double b) { return a <= b; }
Element both(const NodeContext&, long double a, long double b) { return a != 0 && b != 0; }
Element either(const NodeContext&, long double a, long double b) { return a != 0 || b != 0; }
Element one_of(const NodeContext&, long double a, long double b) { return (a != 0) != (b != 0); }

// 64-bit two's complement; larger unsigned numbers stay unknown.
template <typename Bitwise>
Element of_bits(long double a, long double b, Bitwise bitwise) {
  constexpr long double limit = 0x1p63L;
  if (!(std::fabs(a) < limit && std::fabs(b) < limit)) return std::nullopt;
  return static_cast<long double>(
      bitwise(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

Element bit_and(const NodeContext&, long double a, long double b) {
  return of_bits(a, b, [](std::int64_t x, std::int64_t y) { return x & y; });
}
Element bit_or(const NodeContext&, long double a, long double b) {
  return of_bits(a, b, [](std::int64_t x, std::int64_t y) { return x | y; });
}
Element bit_xor(const NodeContext&, long double a, long double b) {
  return of_bits(a, b, [](std::int64_t x, std::int64_t y) { return x ^ y; });
}

// A left shift drops bits beyond the type, which as_element would reject.
Element bit_shift(const NodeContext& context, long double a, long double b) {
  const int width = bits(context.type(0));
  if (b < 0 || b >= width || a < 0) return std::nullopt;
  const int places = static_cast<int>(b);
  if (context.text("direction", "") == "RIGHT") return std::floor(std::ldexp(a, -places));
  return std::fmod(std::ldexp(a, places), std::ldexp(1.0L, width));
}

// Each operand after the first adds one operation per element.
template <ElementFunction function>
void variadic(NodeContext& context, const Combine& combine) {
  if (context.input_count() == 0) context.fail("it has no input");
  std::vector<std::size_t> inputs(context.input_count());
  std::iota(inputs.begin(), inputs.end(), std::size_t{0});
  const Shape shape = broadcast_inputs(context, inputs);
  context.set(0, first_known_type(context, inputs), shape);
  for (std::size_t i = 1; i < inputs.size(); ++i)
    emit_elementwise(context, function, element_count(shape));
  fold(context, inputs, combine);
}

void sum(NodeContext& context) {
  variadic<ElementFunction::add>(context, [](std::span<const long double> operands) {
    return Element(std::accumulate(operands.begin(), operands.end(), 0.0L));
  });
  if (context.input_count() == 1) context.emit(View{});
}

void mean(NodeContext& context) {
  variadic<ElementFunction::add>(context, [](std::span<const long double> operands) {
    const long double total = std::accumulate(operands.begin(), operands.end(), 0.0L);
    return Element(total / static_cast<long double>(operands.size()));
  });
  if (context.input_count() == 1)
    context.emit(View{});
  else if (context.wants(0))
    emit_elementwise(context, ElementFunction::divide, element_count(*context.output(0).shape));
}

void maximum(NodeContext& context) {
  variadic<ElementFunction::maximum>(context, [](std::span<const long double> operands) {
    return Element(*std::max_element(operands.begin(), operands.end()));
  });
  if (context.input_count() == 1) context.emit(View{});
}

void minimum(NodeContext& context) {
  variadic<ElementFunction::minimum>(context, [](std::span<const long double> operands) {
    return Element(*std::min_element(operands.begin(), operands.end()));
  });
  if (context.input_count() == 1) context.emit(View{});
}

// The element of the branch not taken may be unknown, and so may the condition if both branches
// agree.
void fold_where(NodeContext& context, const Shape& shape) {
  if (!context.wants(0) || element_count(shape) > static_cast<std::int64_t>(max_contents)) return;
  if (!may_have_contents(context, {0}) && !may_have_contents(context, {1, 2})) return;
  const Contents* operands[3];
  std::vector<std::size_t> indices[3];
  for (std::size_t i = 0; i < 3; ++i) {
    operands[i] = folded_elements(context, i);
    indices[i] = broadcast_indices(context.shape(i), shape);
  }
  Contents contents(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t element = 0; element < contents.size(); ++element) {
    const auto at = [&](std::size_t i) {
      return operands[i] == nullptr ? Element{} : (*operands[i])[indices[i][element]];
    };
    if (const Element condition = at(0))
      contents[element] = *condition != 0 ? at(1) : at(2);
    else if (at(1) == at(2))
      contents[element] = at(1);
  }
  if (std::any_of(contents.begin(), contents.end(), [](const Element& e) { return e.has_value(); }))
    context.set_contents(0, std::move(contents));
}

void where(NodeContext& context) {
  const Shape shape = broadcast_inputs(context, {0, 1, 2});
  const ElementType type = first_known_type(context, {1, 2});
  context.set(0, type, shape);
  emit_in(context, Elementwise{ElementFunction::where, element_count(shape)}, type);
  fold_where(context, shape);
}

// The slope broadcasts to the input; before opset 7 it was one number, or one per channel.
void prelu(NodeContext& context) {
  const Shape& data = context.shape(0);
  const Shape& slope = context.shape(1);
  const bool per_channel = data.size() > 1 && element_count(slope) == data[1] && slope.size() == 1;
  if (!(context.opset() < 7 && per_channel)) want_broadcastable_to(context, 1, data);
  context.set(0, context.type(0), data);
  emit_elementwise(context, ElementFunction::leaky_relu, element_count(data));
}

}  // namespace

std::span<const Operator> elementwise_operators() {
  static constexpr Operator rows[] = {
      {"", "Add", binary<ElementFunction::add, add>},
      {"", "Sub", binary<ElementFunction::subtract, subtract>},
      {"", "Mul", binary<ElementFunction::multiply, multiply>},
      {"", "Div", binary<ElementFunction::divide, divide>},
      {"", "Mod", binary<ElementFunction::modulo, modulo>},
      {"", "Pow", binary<ElementFunction::power, power>},
      {"", "And", binary<ElementFunction::logical, both, BinaryResult::boolean>},
      {"", "Or", binary<ElementFunction::logical, either, BinaryResult::boolean>},
      {"", "Xor", binary<ElementFunction::logical, one_of, BinaryResult::boolean>},
      {"", "Equal", binary<ElementFunction::compare, equal, BinaryResult::boolean>},
      {"", "Greater", binary<ElementFunction::compare, greater, BinaryResult::boolean>},
      {"", "GreaterOrEqual", binary<ElementFunction::compare, at_least, BinaryResult::boolean>},
      {"", "Less", binary<ElementFunction::compare, less, BinaryResult::boolean>},
      {"", "LessOrEqual", binary<ElementFunction::compare, at_most, BinaryResult::boolean>},
      {"", "BitShift", binary<ElementFunction::bitwise, bit_shift>},
      {"", "BitwiseAnd", binary<ElementFunction::bitwise, bit_and>},
      {"", "BitwiseOr", binary<ElementFunction::bitwise, bit_or>},
      {"", "BitwiseXor", binary<ElementFunction::bitwise, bit_xor>},
      {"", "Sum", sum},
      {"", "Mean", mean},
      {"", "Max", maximum},
      {"", "Min", minimum},
      {"", "Where", where},
      {"", "PRelu", prelu},
  };
  return rows;
}

}  // namespace ridgeline::onnx
