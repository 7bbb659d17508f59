// Parts shared by all attention operators: the attention itself, biases and rotations before it.
#include "analyzer/onnx/operators/attention_sizes.h"

#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {

std::int64_t head_count(const NodeContext& context, std::string_view attribute) {
  const std::int64_t heads = context.integer(attribute, 0);
  if (heads < 1 || heads > max_dimension)
    context.fail(std::string(attribute) + " is " + std::to_string(heads));
  return heads;
}

void emit_attention(NodeContext& context, const Attention& attention, ElementType type) {
  if (attention.kv_heads > 0)
    divided(context, "the number of query heads", attention.q_heads, attention.kv_heads);
  emit_in(context, attention, type);
}

void emit_attention(NodeContext& context, const Attention& attention) {
  emit_attention(context, attention, context.type(0));
}

void emit_bias(NodeContext& context, std::int64_t elements) {
  emit_in(context, Elementwise{ElementFunction::add, elements}, context.type(0));
}

void emit_rotary(NodeContext& context, std::int64_t elements, std::size_t cosines,
                 std::size_t sines, std::int64_t rows) {
  context.emit(Elementwise{ElementFunction::rotary_embedding, elements});
  for (const std::size_t table : {cosines, sines})
    if (context.has(table) && context.shape(table).size() == 2)
      context.reads(table, multiplied(context, {std::min(rows, context.shape(table)[0]),
                                                context.shape(table)[1]}));
}

bool is_additive_mask(const NodeContext& context, std::size_t input) {
  return context.has(input) && context.shape(input).size() > 1;
}

}  // namespace ridgeline::onnx
