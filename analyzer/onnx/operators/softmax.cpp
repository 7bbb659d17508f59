// Softmax and variants. The axis does not affect the count, but one outside the input is an error.
// Before opset 13 a row is everything from the axis on.
#include <fmt/format.h>

#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Before opset 13 the input is coerced to two dimensions, and the axis may be its rank.
void check_axis(const NodeContext& context, std::int64_t opset) {
  const auto rank = static_cast<std::int64_t>(context.shape(0).size());
  const std::int64_t axis = context.integer("axis", opset < 13 ? 1 : -1);
  const std::int64_t last = opset < 13 ? rank : rank - 1;
  if (rank > 0 && (axis < -rank || axis > last))
    context.fail(fmt::format("axis {} is outside of the {} dimensions", axis, rank));
}

template <bool log>
void softmax(NodeContext& context) {
  check_axis(context, context.opset());
  const Shape& data = context.shape(0);
  context.set(0, context.type(0), data);
  context.emit(Softmax{element_count(data), log});
}

// Inputs: scores, bias (usually a mask).
void bias_softmax(NodeContext& context) {
  const Shape& data = context.shape(0);
  want_broadcastable_to(context, 1, data);
  context.set(0, context.type(0), data);
  emit_elementwise(context, ElementFunction::add, element_count(data));
  context.emit(Softmax{element_count(data), false});
}

// Inputs: X, scale, zero point, scale and zero point of Y. Computes in floats.
void qlinear_softmax(NodeContext& context) {
  check_axis(context, context.integer("opset", 13));
  const Shape& data = context.shape(0);
  const std::int64_t elements = element_count(data);
  context.set(0, context.type(0), data);
  emit_elementwise(context, ElementFunction::dequantize, elements);
  context.emit(Softmax{elements, false});
  emit_elementwise(context, ElementFunction::quantize, elements);
}

}  // namespace

std::span<const Operator> softmax_operators() {
  static constexpr Operator rows[] = {
      {"", "Softmax", softmax<false>},
      {"", "LogSoftmax", softmax<true>},
      {"com.microsoft", "BiasSoftmax", bias_softmax},
      {"com.microsoft", "QLinearSoftmax", qlinear_softmax},
  };
  return rows;
}

}  // namespace ridgeline::onnx
