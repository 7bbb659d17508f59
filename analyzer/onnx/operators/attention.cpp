// Attention of the standard domain, in three and four dimensions, with grouped heads and caches;
// rotary embeddings of both domains; linear attention. For com.microsoft's attention operators see
// the other attention files.
#include <algorithm>

#include "analyzer/onnx/operators/attention_sizes.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// [batch, heads, length, size], also from [batch, length, heads·size].
Shape by_heads(const NodeContext& context, std::size_t input, std::string_view heads_attribute) {
  const Shape& shape = context.shape(input);
  if (shape.size() == 4) return shape;
  want_rank(context, input, 3);
  const std::int64_t heads = head_count(context, heads_attribute);
  return {shape[0], heads, shape[1], divided(context, "the hidden size", shape[2], heads)};
}

void attention(NodeContext& context) {
  const Shape query = by_heads(context, 0, "q_num_heads");
  const Shape key = by_heads(context, 1, "kv_num_heads");
  const Shape value = by_heads(context, 2, "kv_num_heads");
  want_equal(context, "the batch of the keys", key[0], query[0]);
  want_equal(context, "the head size of the keys", key[3], query[3]);
  want_shape(context, 2,
             context.shape(2).size() == 4
                 ? Shape{key[0], key[1], key[2], value[3]}
                 : Shape{key[0], key[2], multiplied(context, {key[1], value[3]})});
  const std::int64_t past = context.has(4) ? context.dimension(4, 2) : 0;
  const std::int64_t length = added(context, {past, key[2]});

  const bool flat = context.shape(0).size() == 3;
  context.set(0, context.type(0),
              flat ? Shape{query[0], query[2], multiplied(context, {query[1], value[3]})}
                   : Shape{query[0], query[1], query[2], value[3]});
  context.set(1, context.type(1), {key[0], key[1], length, key[3]});
  context.set(2, context.type(2), {key[0], key[1], length, value[3]});
  context.set(3, context.type(0), {query[0], query[1], query[2], length});
  if (context.has(6)) context.not_data(6);
  emit_attention(context, {query[0], query[1], key[1], query[2], length, query[3], value[3],
                           context.integer("is_causal", 0) != 0, is_additive_mask(context, 3)});
}

// If positions are given, the tables hold all positions and only the given ones are read.
void rotate(NodeContext& context, std::size_t positions, std::size_t cosines, std::size_t sines) {
  const Shape& shape = context.shape(0);
  const std::size_t rank = shape.size();
  if (rank != 3 && rank != 4) context.fail(named(context, 0) + " has neither 3 nor 4 dimensions");
  context.set(0, context.type(0), shape);
  if (context.has(positions)) context.not_data(positions);
  const std::int64_t tokens = multiplied(context, {shape[0], shape[rank == 4 ? 2 : 1]});
  // Partial rotation leaves the rest of every head unchanged.
  const std::int64_t width = context.integer("rotary_embedding_dim", 0);
  std::int64_t rotated = element_count(shape);
  if (width > 0) {
    const std::int64_t heads = rank == 4 ? shape[1] : head_count(context, "num_heads");
    rotated = std::min(rotated, multiplied(context, {tokens, heads, width}));
  }
  emit_rotary(context, rotated, cosines, sines, tokens);
}

void rotary_embedding(NodeContext& context) { rotate(context, 3, 1, 2); }

void contrib_rotary_embedding(NodeContext& context) { rotate(context, 1, 2, 3); }

// Takes sine and cosine of the given angles. The rotated halves are inputs.
void gemma_rotary_embedding(NodeContext& context) {
  const std::int64_t angles = element_count(context.shape(0));
  const std::int64_t query = element_count(context.shape(1));
  const std::int64_t key = element_count(context.shape(3));
  context.set(0, context.type(1), context.shape(1));
  context.set(1, context.type(3), context.shape(3));
  context.emit(Elementwise{ElementFunction::trigonometric, multiplied(context, {2, angles})});
  emit_in(context, Elementwise{ElementFunction::rotary_embedding, added(context, {query, key})},
          context.type(1));
}

// A state [keys, values] per head: every token adds an outer product to it (in the delta rules,
// after subtracting what the state holds for the key) and reads it with its query.
void linear_attention(NodeContext& context) {
  for (std::size_t i = 0; i < 3; ++i) want_rank(context, i, 3);
  const Shape& query = context.shape(0);
  const std::int64_t batch = query[0], length = query[1];
  const std::int64_t q_heads = head_count(context, "q_num_heads");
  const std::int64_t kv_heads = head_count(context, "kv_num_heads");
  const std::int64_t keys = divided(context, "the hidden size of the query", query[2], q_heads);
  const std::int64_t values =
      divided(context, "the hidden size of the value", context.shape(2)[2], kv_heads);
  want_shape(context, 1, {batch, length, multiplied(context, {kv_heads, keys})});
  // com.microsoft allows fewer query heads than states, and keeps the last states as a window.
  const std::int64_t out_heads = std::max(q_heads, kv_heads);
  context.set(0, context.type(0), {batch, length, multiplied(context, {out_heads, values})});
  Shape state{batch, kv_heads, keys, values};
  if (const std::int64_t window = context.integer("state_window", 0); window > 0)
    state.insert(state.begin(), window);
  context.set(1, context.has(3) ? context.type(3) : context.type(0), state);

  const std::string_view rule = context.text("update_rule", "gated_delta");
  const std::int64_t kv_batch = multiplied(context, {batch, kv_heads});
  if (context.has(4)) {
    emit_elementwise(context, ElementFunction::exp, element_count(context.shape(4)));
    emit_elementwise(context, ElementFunction::multiply,
                     multiplied(context, {kv_batch, length, keys, values}));
  }
  if (rule == "delta" || rule == "gated_delta") {
    context.emit(MatMul{kv_batch, length, values, keys});
    emit_elementwise(context, ElementFunction::subtract,
                     multiplied(context, {kv_batch, length, values}));
  }
  context.emit(MatMul{kv_batch, keys, values, length});
  context.emit(MatMul{multiplied(context, {batch, out_heads}), length, values, keys});
}

// Decay and update rate of linear attention, from their projections.
void linear_attention_gate(NodeContext& context) {
  const std::int64_t count = element_count(context.shape(0));
  context.set(0, context.type(0), context.shape(0));
  emit_elementwise(context, ElementFunction::add, count);
  emit_elementwise(context, ElementFunction::softplus, count);
  emit_elementwise(context, ElementFunction::multiply, count);
  if (!context.has(3)) return;
  context.set(1, context.type(3), context.shape(3));
  emit_elementwise(context, ElementFunction::sigmoid, element_count(context.shape(3)));
}

}  // namespace

std::span<const Operator> attention_operators() {
  static constexpr Operator rows[] = {
      {"", "Attention", attention},
      {"", "RotaryEmbedding", rotary_embedding},
      {"", "LinearAttention", linear_attention},
      {"com.microsoft", "RotaryEmbedding", contrib_rotary_embedding},
      {"com.microsoft", "MRotaryEmbedding", contrib_rotary_embedding},
      {"com.microsoft", "GemmaRotaryEmbedding", gemma_rotary_embedding},
      {"com.microsoft", "LinearAttention", linear_attention},
      {"com.microsoft", "LinearAttentionGate", linear_attention_gate},
  };
  return rows;
}

}  // namespace ridgeline::onnx
