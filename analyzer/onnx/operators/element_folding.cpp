// Element arithmetic by type, with broadcasting over small tensors. The function that an operator
// computes is in the operator's file.
#include "analyzer/onnx/operators/element_folding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace ridgeline::onnx {
namespace {

struct FloatFormat {
  int significand_bits;
  int smallest_exponent;  // of the last bit of a subnormal number
  long double largest;
};

std::optional<FloatFormat> float_format(ElementType type) {
  switch (type) {
    case ElementType::fp64:
      return FloatFormat{53, -1074, std::numeric_limits<double>::max()};
    case ElementType::fp32:
      return FloatFormat{24, -149, std::numeric_limits<float>::max()};
    case ElementType::fp16:
      return FloatFormat{11, -24, 65504};
    case ElementType::bf16:
      return FloatFormat{8, -133, 0x1.FEp127L};
    default:
      return std::nullopt;
  }
}

bool is_signed_integer(ElementType type) {
  return type == ElementType::int64 || type == ElementType::int32 || type == ElementType::int16 ||
         type == ElementType::int8 || type == ElementType::int4 || type == ElementType::int2;
}

}  // namespace

Element as_element(long double value, ElementType type) {
  if (!std::isfinite(value)) return std::nullopt;
  if (type == ElementType::boolean) return value != 0 ? 1 : 0;
  if (is_integer(type)) {
    const int width = bits(type);
    const bool is_signed = is_signed_integer(type);
    const long double low = is_signed ? -std::ldexp(1.0L, width - 1) : 0;
    const long double high = std::ldexp(1.0L, is_signed ? width - 1 : width);
    const long double whole = std::trunc(value);
    if (whole < low || whole >= high) return std::nullopt;
    return whole;
  }
  const std::optional<FloatFormat> format = float_format(type);
  if (!format) return std::nullopt;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int last_bit = std::max(exponent - format->significand_bits, format->smallest_exponent);
  const long double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last_bit)), last_bit);
  if (std::fabs(rounded) > format->largest) return std::nullopt;
  return rounded;
}

bool may_have_contents(const NodeContext& context, const std::vector<std::size_t>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(), [&](std::size_t index) {
    if (!context.has(index)) return false;
    const Value& value = context.input(index);
    return value.contents || value.proto != nullptr;
  });
}

const Contents* folded_elements(const NodeContext& context, std::size_t input) {
  const Contents* elements = context.contents(input);
  const bool whole = elements != nullptr && static_cast<std::int64_t>(elements->size()) ==
                                                element_count(context.shape(input));
  return whole ? elements : nullptr;
}

std::vector<std::size_t> broadcast_indices(const Shape& operand, const Shape& out) {
  // Distance between neighbours along each axis; 0 if the operand is broadcast.
  std::vector<std::size_t> steps(out.size(), 0);
  std::size_t step = 1;
  for (std::size_t i = 0; i < operand.size() && i < out.size(); ++i) {
    const std::int64_t dimension = operand[operand.size() - 1 - i];
    if (dimension != 1) steps[out.size() - 1 - i] = step;
    step *= static_cast<std::size_t>(dimension);
  }
  std::vector<std::size_t> indices(static_cast<std::size_t>(element_count(out)));
  Shape position(out.size(), 0);
  std::size_t index = 0;
  for (std::size_t& element : indices) {
    element = index;
    for (std::size_t axis = out.size(); axis-- > 0;) {
      index += steps[axis];
      if (++position[axis] < out[axis]) break;
      index -= steps[axis] * static_cast<std::size_t>(out[axis]);
      position[axis] = 0;
    }
  }
  return indices;
}

void fold(NodeContext& context, const std::vector<std::size_t>& inputs, const Combine& combine) {
  std::vector<Shape> shapes;
  for (const std::size_t input : inputs) shapes.push_back(context.shape(input));
  fold(context, inputs, shapes, combine);
}

void fold(NodeContext& context, const std::vector<std::size_t>& inputs,
          const std::vector<Shape>& shapes, const Combine& combine) {
  if (!context.wants(0) || !may_have_contents(context, inputs)) return;
  const Shape& out = *context.output(0).shape;
  const ElementType type = context.output(0).type;
  if (element_count(out) > static_cast<std::int64_t>(max_contents)) return;

  std::vector<const Contents*> operands;
  std::vector<std::vector<std::size_t>> indices;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(folded_elements(context, inputs[i]));
    if (operands.back() == nullptr) return;
    indices.push_back(broadcast_indices(shapes[i], out));
  }
  Contents contents(static_cast<std::size_t>(element_count(out)));
  std::vector<long double> arguments(inputs.size());
  for (std::size_t element = 0; element < contents.size(); ++element) {
    bool known = true;
    for (std::size_t i = 0; i < inputs.size() && known; ++i) {
      const Element& argument = (*operands[i])[indices[i][element]];
      known = argument.has_value();
      arguments[i] = argument.value_or(0);
    }
    if (!known) continue;
    if (const Element result = combine(arguments)) contents[element] = as_element(*result, type);
  }
  context.set_contents(0, std::move(contents));
}

}  // namespace ridgeline::onnx
