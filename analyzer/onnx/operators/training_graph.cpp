// Supporting operators of training graphs: scales of mixed precision, checks for infinities, axes
// of broadcast gradients, ends of the forward pass. For gradients and optimisers see gradient.cpp
// and optimizer.cpp.
#include <algorithm>
#include <utility>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/folding.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Each output is the input at the same position.
void pass_through(NodeContext& context) {
  context.emit(View{});
  for (std::size_t i = 0; i < std::min(context.output_count(), context.input_count()); ++i) {
    context.set(i, context.type(i), context.shape(i));
    pass_contents(context, i, i);
  }
}

// Each output is a part of the first input, in the shape given by another input.
void view(NodeContext& context) {
  context.emit(View{});
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    context.not_data(i);
    context.set(i - 1, context.type(0), context.needed_integers(i));
  }
}

// A barrier: waits for its inputs.
void group(NodeContext& context) {
  context.emit(View{});
  context.set(0, ElementType::boolean, {});
}

// One boolean for all elements of all inputs.
void one_answer(NodeContext& context) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    count = added(context, {count, element_count(context.shape(i))});
  context.set(0, ElementType::boolean, {});
  context.emit(Reduce{Reduction::min, count, 1});
}

void is_finite(NodeContext& context) {
  context.set(0, ElementType::boolean, context.shape(0));
  emit_elementwise(context, ElementFunction::compare, element_count(context.shape(0)));
}

void mixed_precision_scale(NodeContext& context) {
  const ElementType type = element_type(context.integer("to", 1));
  std::int64_t count = 0;
  for (std::size_t i = 1; i < context.input_count(); ++i) {
    context.set(i - 1, type, context.shape(i));
    count = added(context, {count, element_count(context.shape(i))});
  }
  if (context.integer("fuse_outputs", 0) != 0) context.set(0, type, {count});
  emit_elementwise(context, ElementFunction::multiply, count);
}

void scale_gradient(NodeContext& context) {
  context.not_data(1);
  unary_like_input(context, ElementFunction::multiply);
}

void scaled_sum(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(0));
  context.set(0, context.type(0), context.shape(0));
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    emit_elementwise(context, ElementFunction::multiply, count);
    if (i > 0) emit_elementwise(context, ElementFunction::add, count);
  }
}

void batch_scale(NodeContext& context) {
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    context.set(i, context.type(0), context.shape(0));
    emit_elementwise(context, ElementFunction::multiply, element_count(context.shape(0)));
  }
}

// The axes over which to sum the gradient of each operand: those that were broadcast.
void broadcast_gradient_axes(NodeContext& context) {
  context.emit(View{});
  context.not_data(0);
  context.not_data(1);
  const Shape operands[] = {context.needed_integers(0), context.needed_integers(1)};
  const auto size_at = [](const Shape& shape, std::size_t from_end) {
    return from_end < shape.size() ? shape[shape.size() - 1 - from_end] : std::int64_t{-1};
  };
  const std::size_t rank = std::max(operands[0].size(), operands[1].size());
  for (const std::size_t i : {0u, 1u}) {
    Contents axes;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::size_t from_end = rank - 1 - axis;
      const std::int64_t own = size_at(operands[i], from_end);
      const std::int64_t other = size_at(operands[1 - i], from_end);
      if (own == -1 || (own == 1 && other > 1)) axes.push_back(static_cast<long double>(axis));
    }
    context.set(i, ElementType::int64, {static_cast<std::int64_t>(axes.size())});
    context.set_contents(i, std::move(axes));
  }
}

void fake_quantize(NodeContext& context) {
  context.not_data(1);
  context.not_data(2);
  const std::int64_t count = element_count(context.shape(0));
  context.set(0, context.type(0), context.shape(0));
  context.set(1, ElementType::boolean, context.shape(0));
  emit_elementwise(context, ElementFunction::quantize, count);
  emit_elementwise(context, ElementFunction::dequantize, count);
}

}  // namespace

std::span<const Operator> training_graph_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "PassThrough", pass_through},
      {"com.microsoft", "YieldOp", pass_through},
      {"com.microsoft", "View", view},
      {"com.microsoft", "Group", group},
      {"com.microsoft", "All", one_answer},
      {"com.microsoft", "IsFinite", is_finite},
      {"com.microsoft", "MixedPrecisionScale", mixed_precision_scale},
      {"com.microsoft", "Scale", scale_gradient},
      {"com.microsoft", "ScaledSum", scaled_sum},
      {"com.microsoft", "BatchScale", batch_scale},
      {"com.microsoft", "BroadcastGradientArgs", broadcast_gradient_axes},
      {"com.microsoft", "FakeQuant", fake_quantize},
  };
  return rows;
}

}  // namespace ridgeline::onnx
