// com.microsoft's attention operators that project their input to query, key and value themselves:
// Attention, QAttention, DecoderMaskedSelfAttention, PackedAttention, LongformerAttention.
#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/attention_sizes.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Positions of the inputs.
struct ProjectedInputs {
  std::size_t bias, mask, past, attention_bias, past_length;
  ElementType result;               // of the outputs and the attention
  std::optional<DType> projection;  // if it differs
};

struct Widths {
  std::int64_t query, key, value;
};

Widths widths_of(const NodeContext& context, std::int64_t columns) {
  if (const auto sizes = context.integers("qkv_hidden_sizes"); sizes && !sizes->empty()) {
    want_equal(context, "the number of qkv_hidden_sizes", static_cast<std::int64_t>(sizes->size()),
               3);
    want_equal(context, "the width of the weights", columns,
               added(context, {(*sizes)[0], (*sizes)[1], (*sizes)[2]}));
    for (const std::int64_t size : *sizes)
      if (size < 0) context.fail("a hidden size of " + std::to_string(size));
    return {(*sizes)[0], (*sizes)[1], (*sizes)[2]};
  }
  const std::int64_t width = divided(context, "the width of the weights", columns, 3);
  return {width, width, width};
}

void emit_projection(NodeContext& context, const MatMul& projection,
                     const std::optional<DType>& dtype) {
  if (dtype)
    context.emit(projection, *dtype);
  else
    context.emit(projection);
}

// Keys and values of earlier tokens: [2, batch, heads, length, size]. How far a shared buffer is
// filled is data; if unknown, it is counted as full.
std::int64_t past_tokens(NodeContext& context, const ProjectedInputs& inputs, bool shares_buffer) {
  if (!context.has(inputs.past)) return 0;
  want_rank(context, inputs.past, 5);
  const Shape& past = context.shape(inputs.past);
  if (!shares_buffer) return past[3];
  if (const auto known = context.known_integers(inputs.past_length); known && known->size() == 1)
    return std::clamp<std::int64_t>(known->front(), 0, past[3]);
  context.warn("how far its cache is filled depends on data; counted as full (" +
               std::to_string(past[3]) + ")");
  return past[3];
}

void projected_attention(NodeContext& context, const ProjectedInputs& inputs) {
  want_rank(context, 0, 3);
  want_rank(context, 1, 2);
  const Shape& input = context.shape(0);
  const Shape& weights = context.shape(1);
  const std::int64_t batch = input[0], length = input[1];
  want_equal(context, "the height of the weights", weights[0], input[2]);
  const Widths width = widths_of(context, weights[1]);
  const std::int64_t heads = head_count(context, "num_heads");
  const std::int64_t head_size = divided(context, "the width of the keys", width.key, heads);
  const std::int64_t value_size = divided(context, "the width of the values", width.value, heads);

  const bool shares_buffer = context.integer("past_present_share_buffer", 0) != 0;
  const std::int64_t past = past_tokens(context, inputs, shares_buffer);
  std::int64_t total = added(context, {past, length});
  if (shares_buffer && context.has(inputs.past))
    total = std::min(total, context.shape(inputs.past)[3]);
  if (context.has(inputs.past_length)) context.not_data(inputs.past_length);

  context.set(0, inputs.result, {batch, length, width.value});
  if (shares_buffer && context.has(inputs.past)) {
    context.set(1, inputs.result, context.shape(inputs.past));
    context.reads(inputs.past, multiplied(context, {2, batch, heads, past, head_size}));
    context.writes(1, multiplied(context, {2, batch, heads, length, head_size}));
  } else {
    context.set(1, inputs.result, {2, batch, heads, total, head_size});
  }
  const std::int64_t tokens = multiplied(context, {batch, length});
  emit_projection(context, {1, tokens, weights[1], weights[0], context.has(inputs.bias)},
                  inputs.projection);
  if (context.integer("do_rotary", 0) != 0)
    emit_in(context,
            Elementwise{ElementFunction::rotary_embedding,
                        multiplied(context, {tokens, added(context, {width.query, width.key})})},
            inputs.result);
  emit_attention(
      context,
      {batch, heads, heads, length, total, head_size, value_size,
       context.integer("unidirectional", 0) != 0,
       is_additive_mask(context, inputs.mask) || is_additive_mask(context, inputs.attention_bias)},
      inputs.result);
}

void microsoft_attention(NodeContext& context) {
  projected_attention(context, {2, 3, 4, 5, 6, context.type(0), std::nullopt});
}

void decoder_masked_self_attention(NodeContext& context) {
  context.not_data(7);  // number of beams
  microsoft_attention(context);
}

void quantized_attention(NodeContext& context) {
  for (const std::size_t scale : {3u, 4u, 6u, 7u})
    if (context.has(scale) && context.shape(scale).empty()) context.not_data(scale);
  projected_attention(context, {2, 5, 8, no_input, no_input, context.type(3), DType::int8});
}

// Tokens without padding, [tokens, width]. Scores are counted for the padded batch, an upper bound.
void packed_attention(NodeContext& context) {
  want_rank(context, 0, 2);
  want_rank(context, 1, 2);
  want_rank(context, 3, 2);
  const Shape& weights = context.shape(1);
  const Shape& padded = context.shape(3);
  const std::int64_t tokens = context.shape(0)[0];
  want_equal(context, "the height of the weights", weights[0], context.shape(0)[1]);
  const Widths width = widths_of(context, weights[1]);
  const std::int64_t heads = head_count(context, "num_heads");
  context.not_data(3);
  context.not_data(4);
  context.set(0, context.type(0), {tokens, width.value});
  context.emit(MatMul{1, tokens, weights[1], weights[0], context.has(2)});
  emit_attention(context, {padded[0], heads, heads, padded[1], padded[1],
                           divided(context, "the width of the keys", width.key, heads),
                           divided(context, "the width of the values", width.value, heads), false,
                           is_additive_mask(context, 5)});
}

// Every token attends to a window on both sides. Which tokens attend globally is data, so only
// their projection is counted, for all tokens.
void longformer_attention(NodeContext& context) {
  want_rank(context, 0, 3);
  want_rank(context, 1, 2);
  const Shape& input = context.shape(0);
  const std::int64_t heads = head_count(context, "num_heads");
  const std::int64_t window = std::max<std::int64_t>(context.integer("window", 1), 1);
  const std::int64_t tokens = multiplied(context, {input[0], input[1]});
  const std::int64_t width = input[2];
  want_shape(context, 1, {width, multiplied(context, {3, width})});
  context.set(0, context.type(0), input);
  const std::int64_t head_size = divided(context, "the hidden size", width, heads);
  context.emit(MatMul{1, tokens, multiplied(context, {3, width}), width, true});
  context.emit(MatMul{1, tokens, multiplied(context, {2, width}), width, true});
  const std::int64_t seen = window > input[1] / 2 ? input[1] : std::min(input[1], 2 * window + 1);
  emit_attention(context,
                 {input[0], heads, heads, input[1], seen, head_size, head_size, false, true});
}

}  // namespace

std::span<const Operator> attention_projected_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "Attention", microsoft_attention},
      {"com.microsoft", "DecoderMaskedSelfAttention", decoder_masked_self_attention},
      {"com.microsoft", "QAttention", quantized_attention},
      {"com.microsoft", "PackedAttention", packed_attention},
      {"com.microsoft", "LongformerAttention", longformer_attention},
  };
  return rows;
}

}  // namespace ridgeline::onnx
