// com.microsoft's attention operators on projected query, key and value, in all their packings:
// MultiHeadAttention and its masked-decoder and packed variants.
#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/attention_sizes.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// Positions of the inputs other than query, key and value.
struct MultiHeadInputs {
  std::size_t bias, mask, attention_bias, past_key, past_length;
};

struct Heads {
  std::int64_t batch = 0, heads = 0, q_length = 0, kv_length = 0, qk_size = 0, v_size = 0;
  bool is_cache = false;  // key and value are an encoder's heads: nothing is appended
};

Heads heads_of(const NodeContext& context) {
  const Shape& query = context.shape(0);
  Heads sizes;
  sizes.heads = head_count(context, "num_heads");
  if (query.size() == 5) {  // [batch, length, heads, 3, size]
    want_shape(context, 0, {query[0], query[1], sizes.heads, 3, query[4]});
    return {query[0], sizes.heads, query[1], query[1], query[4], query[4], false};
  }
  want_rank(context, 0, 3);
  sizes.batch = query[0];
  sizes.q_length = query[1];
  if (!context.has(1)) {  // [batch, length, 3·hidden]
    sizes.kv_length = query[1];
    sizes.qk_size = sizes.v_size =
        divided(context, "the packed hidden size", query[2], multiplied(context, {3, sizes.heads}));
    return sizes;
  }
  sizes.qk_size = divided(context, "the hidden size of the query", query[2], sizes.heads);
  const Shape& key = context.shape(1);
  want_equal(context, "the batch of the keys", context.dimension(1, 0), sizes.batch);
  if (key.size() == 5) {  // [batch, length, heads, 2, size]
    want_shape(context, 1, {sizes.batch, key[1], sizes.heads, 2, sizes.qk_size});
    sizes.kv_length = key[1];
    sizes.v_size = sizes.qk_size;
  } else if (key.size() == 4) {  // [batch, heads, length, size]
    want_shape(context, 1, {sizes.batch, sizes.heads, key[2], sizes.qk_size});
    want_rank(context, 2, 4);
    sizes.kv_length = key[2];
    sizes.v_size = context.shape(2)[3];
    sizes.is_cache = true;
  } else {
    want_shape(context, 1, {sizes.batch, context.dimension(1, 1), query[2]});
    want_rank(context, 2, 3);
    sizes.kv_length = key[1];
    sizes.v_size =
        divided(context, "the hidden size of the value", context.shape(2)[2], sizes.heads);
  }
  return sizes;
}

// Sets the output caches and returns the number of keys, including the past.
std::int64_t keys_with_past(NodeContext& context, const MultiHeadInputs& inputs,
                            const Heads& sizes) {
  const std::int64_t heads = multiplied(context, {sizes.batch, sizes.heads});
  std::int64_t total = sizes.kv_length;
  if (context.has(inputs.past_key)) {
    want_rank(context, inputs.past_key, 4);
    const Shape& past = context.shape(inputs.past_key);
    const bool shares_buffer =
        context.has(inputs.past_length) || context.integer("past_present_share_buffer", 0) != 0;
    if (shares_buffer && !sizes.is_cache) {
      std::int64_t filled = past[2];
      if (const auto known = context.known_integers(inputs.past_length);
          known && known->size() == 1)
        filled = std::clamp<std::int64_t>(known->front(), 0, past[2]);
      else
        context.warn("how far its cache is filled depends on data; counted as full (" +
                     std::to_string(past[2]) + ")");
      context.set(1, context.type(inputs.past_key), past);
      context.set(2, context.type(inputs.past_key), context.shape(inputs.past_key + 1));
      for (const std::size_t i : {0u, 1u}) {
        const std::int64_t size = i == 0 ? sizes.qk_size : sizes.v_size;
        context.reads(inputs.past_key + i, multiplied(context, {heads, filled, size}));
        context.writes(1 + i, multiplied(context, {heads, sizes.kv_length, size}));
      }
      return std::min(added(context, {filled, sizes.kv_length}), past[2]);
    }
    if (!sizes.is_cache) total = added(context, {past[2], sizes.kv_length});
  }
  context.set(1, context.type(0), {sizes.batch, sizes.heads, total, sizes.qk_size});
  context.set(2, context.type(0), {sizes.batch, sizes.heads, total, sizes.v_size});
  return total;
}

void multi_head(NodeContext& context, const MultiHeadInputs& inputs) {
  const Heads sizes = heads_of(context);
  const std::int64_t value_width = multiplied(context, {sizes.heads, sizes.v_size});
  context.set(0, context.type(0), {sizes.batch, sizes.q_length, value_width});
  const std::int64_t total = keys_with_past(context, inputs, sizes);
  context.set(3, context.type(0), {sizes.batch, sizes.heads, sizes.q_length, total});
  if (context.has(inputs.past_length)) context.not_data(inputs.past_length);
  if (context.has(inputs.bias)) {
    const std::int64_t hidden = multiplied(context, {sizes.heads, sizes.qk_size});
    const std::int64_t keys = sizes.is_cache ? 0 : sizes.kv_length;
    emit_bias(context, added(context, {multiplied(context, {sizes.batch, sizes.q_length, hidden}),
                                       multiplied(context, {sizes.batch, keys, hidden}),
                                       multiplied(context, {sizes.batch, keys, value_width})}));
  }
  emit_attention(context, {sizes.batch, sizes.heads, sizes.heads, sizes.q_length, total,
                           sizes.qk_size, sizes.v_size, context.integer("unidirectional", 0) != 0,
                           is_additive_mask(context, inputs.mask) ||
                               is_additive_mask(context, inputs.attention_bias)});
}

void multi_head_attention(NodeContext& context) { multi_head(context, {3, 4, 5, 6, 8}); }

void decoder_masked_multi_head_attention(NodeContext& context) {
  if (context.has(8)) context.not_data(8);
  multi_head(context, {10, 3, 4, 5, 7});
}

// Tokens without padding: [tokens, hidden], or [tokens, heads, 3, size]. Scores are counted for the
// padded batch, an upper bound.
void packed_multi_head_attention(NodeContext& context) {
  const Shape& query = context.shape(0);
  const std::int64_t heads = head_count(context, "num_heads");
  want_rank(context, 4, 2);
  const Shape& padded = context.shape(4);
  context.not_data(4);
  context.not_data(5);
  std::int64_t qk_size, v_size;
  if (query.size() == 4) {
    want_shape(context, 0, {query[0], heads, 3, query[3]});
    qk_size = v_size = query[3];
  } else {
    want_rank(context, 0, 2);
    qk_size = divided(context, "the hidden size of the query", query[1], heads);
    v_size = divided(context, "the hidden size of the value", context.dimension(2, 1), heads);
  }
  context.set(0, context.type(0), {query[0], multiplied(context, {heads, v_size})});
  if (context.has(3))
    emit_bias(context,
              multiplied(context, {query[0], heads, added(context, {qk_size, qk_size, v_size})}));
  emit_attention(context, {padded[0], heads, heads, padded[1], padded[1], qk_size, v_size, false,
                           is_additive_mask(context, 6)});
}

}  // namespace

std::span<const Operator> attention_multi_head_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "MultiHeadAttention", multi_head_attention},
      {"com.microsoft", "DecoderMaskedMultiHeadAttention", decoder_masked_multi_head_attention},
      {"com.microsoft", "PackedMultiHeadAttention", packed_multi_head_attention},
  };
  return rows;
}

}  // namespace ridgeline::onnx
