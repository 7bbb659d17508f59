// QuantizeLinear, DequantizeLinear and variants: every element is scaled and shifted. Steps that
// a neighbouring matrix operation absorbs are marked later, on the whole graph.
#include <string>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// One scale for all elements, one per index of the axis, or one per block along the axis.
void check_scale(const NodeContext& context) {
  const Shape& data = context.shape(0);
  const Shape& scale = context.shape(1);
  if (context.has(2) && element_count(context.shape(2)) != element_count(scale))
    context.fail(named(context, 2) + " is not a zero point for " + named(context, 1));
  if (element_count(scale) == 1) return;
  const std::size_t axis = context.axis(context.integer("axis", 1), data.size());
  const std::int64_t block = context.integer("block_size", 0);
  Shape wanted{data[axis]};
  if (block != 0) {
    if (block < 0) context.fail("blocks of " + std::to_string(block) + " elements");
    wanted = data;
    wanted[axis] = data[axis] / block + (data[axis] % block != 0 ? 1 : 0);
  }
  want_shape(context, 1, wanted);
}

void quantize_linear(NodeContext& context) {
  const Shape& shape = context.shape(0);
  check_scale(context);
  ElementType type =
      context.has(2) ? context.type(2) : element_type(context.integer("output_dtype", 0));
  if (type == ElementType::unknown) type = ElementType::uint8;
  context.set(0, type, shape);
  context.emit(Elementwise{ElementFunction::quantize, element_count(shape)});
}

void dequantize_linear(NodeContext& context) {
  const Shape& shape = context.shape(0);
  check_scale(context);
  const ElementType given = element_type(context.integer("output_dtype", 0));
  const ElementType type = given != ElementType::unknown ? given : context.type(1);
  context.set(0, type, shape);
  emit_in(context, Elementwise{ElementFunction::dequantize, element_count(shape)}, type);
}

// Scale and zero point follow from the range, which is computed first.
void dynamic_quantize_linear(NodeContext& context) {
  const Shape& shape = context.shape(0);
  const std::int64_t count = element_count(shape);
  context.set(0, ElementType::uint8, shape);
  context.set(1, ElementType::fp32, {});
  context.set(2, ElementType::uint8, {});
  context.emit(Reduce{Reduction::min, count, 1});
  context.emit(Reduce{Reduction::max, count, 1});
  context.emit(Elementwise{ElementFunction::quantize, count});
}

// cuBLASLt's layouts keep the number of elements.
void quantize_with_order(NodeContext& context) {
  const Shape& shape = context.shape(0);
  context.set(0, ElementType::int8, shape);
  context.emit(Elementwise{ElementFunction::quantize, element_count(shape)});
}

void dequantize_with_order(NodeContext& context) {
  const Shape& shape = context.shape(0);
  const ElementType type = element_type(context.integer("to", 1));
  context.set(0, type, shape);
  emit_in(context, Elementwise{ElementFunction::dequantize, element_count(shape)}, type);
}

// TensorRT's quantisation to E4M3, as its model optimizer writes it for opsets below 19, which lack
// the type.
void quantize_to_fp8(NodeContext& context) {
  const Shape& shape = context.shape(0);
  context.set(0, ElementType::fp8_e4m3fn, shape);
  context.emit(Elementwise{ElementFunction::quantize, element_count(shape)});
}

}  // namespace

std::span<const Operator> quantization_operators() {
  static constexpr Operator rows[] = {
      {"", "QuantizeLinear", quantize_linear},
      {"", "DequantizeLinear", dequantize_linear},
      {"", "DynamicQuantizeLinear", dynamic_quantize_linear},
      {"com.microsoft", "QuantizeLinear", quantize_linear},
      {"com.microsoft", "DequantizeLinear", dequantize_linear},
      {"com.microsoft", "QuantizeWithOrder", quantize_with_order},
      {"com.microsoft", "DequantizeWithOrder", dequantize_with_order},
      {"trt", "TRT_FP8QuantizeLinear", quantize_to_fp8},
      {"trt", "TRT_FP8DequantizeLinear", dequantize_linear},
  };
  return rows;
}

}  // namespace ridgeline::onnx
