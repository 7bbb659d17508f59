// Operators that draw random numbers: shapes are given or taken from an input, values are unknown.
// Only Bernoulli reads data.

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"

namespace ridgeline::onnx {
namespace {

void set_random(NodeContext& context, ElementType type, const Shape& shape) {
  context.set(0, type, shape);
  emit_in(context, Elementwise{ElementFunction::random, element_count(shape)}, type);
}

ElementType drawn_type(const NodeContext& context, ElementType fallback) {
  const Attribute* dtype = context.attribute("dtype");
  return dtype == nullptr ? fallback : element_type(dtype->i);
}

void random_of_shape(NodeContext& context) {
  const auto shape = context.integers("shape");
  if (!shape) context.fail("its shape is missing");
  set_random(context, drawn_type(context, ElementType::fp32), *shape);
}

void random_like(NodeContext& context) {
  context.not_data(0);
  set_random(context, drawn_type(context, context.type(0)), context.shape(0));
}

void bernoulli(NodeContext& context) {
  set_random(context, drawn_type(context, context.type(0)), context.shape(0));
}

}  // namespace

std::span<const Operator> random_operators() {
  static constexpr Operator rows[] = {
      {"", "RandomNormal", random_of_shape}, {"", "RandomUniform", random_of_shape},
      {"", "RandomNormalLike", random_like}, {"", "RandomUniformLike", random_like},
      {"", "Bernoulli", bernoulli},
  };
  return rows;
}

}  // namespace ridgeline::onnx
