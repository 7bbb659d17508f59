// Mixtures of experts: every token passes through k experts, each a small feed-forward network.
// Only weights of experts that can be selected are read, at most k per token.
#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Positions of the weights [experts, rows, columns] of the three products.
struct ExpertInputs {
  std::size_t first, second, third;
  std::size_t bias_offset;  // from weights to bias
};

void mixture(NodeContext& context, const ExpertInputs& inputs) {
  want_rank_at_least(context, 0, 2);
  const Shape& input = context.shape(0);
  const std::int64_t hidden = input.back();
  const std::int64_t tokens = hidden == 0 ? 0 : element_count(input) / hidden;
  const std::int64_t experts = context.dimension(1, -1);
  const std::int64_t chosen = context.integer("k", 1);
  if (chosen < 1 || chosen > experts)
    context.fail(std::to_string(chosen) + " of " + std::to_string(experts) + " experts");
  context.set(0, context.type(0), input);

  want_rank(context, inputs.first, 3);
  want_rank(context, inputs.second, 3);
  const std::int64_t rows = multiplied(context, {tokens, chosen});
  const std::int64_t width = context.shape(inputs.first)[1];
  const std::string_view activation = context.text("activation_type", "relu");
  // One product yields gate and value, concatenated.
  const bool fused = activation == "swiglu" && context.integer("swiglu_fusion", 0) != 0;
  const std::int64_t inner = fused ? divided(context, "the width of the experts", width, 2) : width;
  const auto biased = [&](std::size_t weights) {
    return context.has(weights + inputs.bias_offset);
  };
  const ElementType type = context.type(0);
  emit_in(context, Softmax{element_count(context.shape(1)), false}, type);
  emit_in(context, Sort{tokens, experts, chosen}, type);
  emit_in(context, MatMul{1, rows, width, hidden, biased(inputs.first)}, type);
  emit_activation(context, activation == "swiglu" ? "silu" : activation,
                  multiplied(context, {rows, inner}));
  if (activation == "swiglu" || context.has(inputs.third))
    emit_in(context, Elementwise{ElementFunction::multiply, multiplied(context, {rows, inner})},
            type);
  if (context.has(inputs.third))
    emit_in(context, MatMul{1, rows, inner, hidden, biased(inputs.third)}, type);
  emit_in(context, MatMul{1, rows, hidden, inner, biased(inputs.second)}, type);
  emit_in(context, Elementwise{ElementFunction::add, multiplied(context, {rows, hidden})}, type);

  for (std::size_t i = inputs.first; i < context.input_count(); ++i) {
    if (!context.has(i) || context.shape(i).size() < 2 || context.shape(i)[0] != experts) continue;
    const std::int64_t each = element_count(context.shape(i)) / experts;
    context.reads(i, each * std::min(experts, rows));
  }
}

void mixture_of_experts(NodeContext& context) { mixture(context, {2, 4, 6, 1}); }

void quantized_mixture_of_experts(NodeContext& context) { mixture(context, {2, 5, 8, 2}); }

}  // namespace

std::span<const Operator> expert_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "MoE", mixture_of_experts},
      {"com.microsoft", "QMoE", quantized_mixture_of_experts},
  };
  return rows;
}

}  // namespace ridgeline::onnx
