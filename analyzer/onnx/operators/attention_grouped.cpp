// com.microsoft's attention operators for large language models: query heads share key heads, and a
// cache grows with every token. GroupQueryAttention, SparseAttention, PagedAttention.
#include <algorithm>
#include <string>

#include "analyzer/onnx/operators/attention_sizes.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

struct GroupedInputs {
  std::size_t total_length, cosines;
  bool fixed_cache;  // the cache is a buffer of its final length
};

// Keys [batch, length, heads·size], or query, key and value packed into the query.
struct GroupedHeads {
  std::int64_t q_heads = 0, kv_heads = 0, kv_length = 0, size = 0;
};

GroupedHeads grouped_heads(const NodeContext& context) {
  const Shape& query = context.shape(0);
  const std::size_t width = query.size() - 1;
  GroupedHeads heads{head_count(context, "num_heads"), head_count(context, "kv_num_heads"), 0, 0};
  if (context.has(1)) {
    heads.size = divided(context, "the hidden size of the query", query[width], heads.q_heads);
    want_rank(context, 1, query.size());
    want_equal(context, "the hidden size of the keys", context.shape(1)[width],
               multiplied(context, {heads.kv_heads, heads.size}));
    heads.kv_length = context.shape(1)[width - 1];
  } else {
    heads.size = divided(context, "the packed hidden size", query[width],
                         added(context, {heads.q_heads, heads.kv_heads, heads.kv_heads}));
    heads.kv_length = query[width - 1];
  }
  return heads;
}

std::optional<std::int64_t> known_length(NodeContext& context, std::size_t input) {
  context.not_data(input);
  const auto known = context.known_integers(input);
  if (!known || known->size() != 1 || known->front() < 1) return std::nullopt;
  return known->front();
}

// Sizes that the user let be assumed follow from the heads; a type of 8 bits may hold two numbers
// in an element.
Shape cache_shape(NodeContext& context, std::size_t past, const Shape& from_heads) {
  if (!context.has(past)) return from_heads;
  if (context.shape(past).size() != 4)
    context.fail(named(context, past) + " does not have 4 dimensions");
  Value& value = *context.input_value(past);
  if (value.source == ShapeSource::assumed) {
    for (const std::size_t axis : {1u, 3u}) (*value.shape)[axis] = from_heads[axis];
    if (!checked_element_count(*value.shape))
      context.fail(named(context, past) + " has more elements than can be counted");
  }
  Shape cache = *value.shape;
  cache[2] = from_heads[2];
  return cache;
}

// Sets the output caches and returns the number of keys attended to.
std::int64_t attended_keys(NodeContext& context, const GroupedInputs& inputs,
                           const GroupedHeads& heads, std::int64_t batch) {
  const auto total = known_length(context, inputs.total_length);
  const bool has_past = context.has(3);
  const std::int64_t past = has_past ? context.dimension(3, 2) : 0;
  const std::int64_t grown = added(context, {past, heads.kv_length});
  // A cache with room for the new keys is written in place; otherwise it is copied and grows. If
  // the number of keys is data, the file says which: a shared buffer leaves with the length it had.
  const Shape* declared =
      has_past && !total ? context.declared_instead_of({inputs.total_length}, 1) : nullptr;
  const bool is_shared = inputs.fixed_cache ||
                         (declared != nullptr && declared->size() == 4 && (*declared)[2] == past);
  const bool in_place = has_past && (is_shared || (total && past >= *total));
  std::int64_t keys = total.value_or(in_place ? past : grown);
  const std::int64_t present = in_place ? past : std::max(keys, past);
  if (in_place && !total)
    context.warn("how far its cache is filled depends on data; counted as full (" +
                 std::to_string(past) + ")");
  if (keys > present)
    context.fail("a sequence of " + std::to_string(keys) + " in a cache of " +
                 std::to_string(present));
  for (const std::size_t i : {0u, 1u}) {
    const Shape cache = cache_shape(context, 3 + i, {batch, heads.kv_heads, present, heads.size});
    context.set(1 + i, has_past ? context.type(3 + i) : context.type(0), cache);
    if (!in_place) continue;
    const std::int64_t per_key = multiplied(context, {cache[0], cache[1], cache[3]});
    context.reads(
        3 + i, multiplied(context, {per_key, std::max<std::int64_t>(keys - heads.kv_length, 0)}));
    context.writes(1 + i, multiplied(context, {per_key, heads.kv_length}));
  }
  return keys;
}

void grouped_attention(NodeContext& context, const GroupedInputs& inputs) {
  want_rank(context, 0, 3);
  const Shape& query = context.shape(0);
  const std::int64_t batch = query[0], length = query[1];
  const GroupedHeads heads = grouped_heads(context);
  const std::int64_t width = multiplied(context, {heads.q_heads, heads.size});
  context.set(0, context.type(0), {batch, length, width});
  std::int64_t keys = attended_keys(context, inputs, heads, batch);
  context.set(3, context.type(0), {batch, heads.q_heads, length, keys});

  const std::int64_t tokens = multiplied(context, {batch, length});
  const std::int64_t rotated =
      multiplied(context, {tokens, added(context, {heads.q_heads, heads.kv_heads}), heads.size});
  if (context.has(14)) {  // normalisation of query and key heads
    const std::int64_t rows =
        multiplied(context, {tokens, added(context, {heads.q_heads, heads.kv_heads})});
    emit_in(context, Normalize{Normalization::rms, rotated, rows, true, false, 0}, context.type(0));
  }
  if (context.integer("do_rotary", 0) != 0)
    emit_rotary(context, rotated, inputs.cosines, inputs.cosines + 1, tokens);
  // A sliding window limits the keys per token.
  if (const std::int64_t window = context.integer("local_window_size", -1); window > 0)
    keys = std::min(keys, window);
  emit_attention(context, {batch, heads.q_heads, heads.kv_heads, length, keys, heads.size,
                           heads.size, context.integer("causal", 1) != 0,
                           inputs.fixed_cache ? false : is_additive_mask(context, 10)});
}

void group_query_attention(NodeContext& context) {
  context.not_data(5);
  if (context.has(9)) context.not_data(9);
  grouped_attention(context, {6, 7, false});
}

// A mask omits blocks of keys; counted as if it kept all of them.
void sparse_attention(NodeContext& context) {
  context.not_data(8);
  grouped_attention(context, {7, 9, true});
}

// Keys in blocks [blocks, block size, heads, size], which a table assigns to sequences. The lengths
// of the sequences are data, so the table's full capacity is counted.
void paged_attention(NodeContext& context) {
  want_rank(context, 0, 2);
  want_rank(context, 3, 4);
  want_rank(context, 7, 2);
  const std::int64_t tokens = context.shape(0)[0];
  const GroupedHeads heads = grouped_heads(context);
  const Shape& cache = context.shape(3);
  const Shape& table = context.shape(7);
  for (const std::size_t i : {5u, 6u, 7u, 10u, 16u}) context.not_data(i);
  const std::int64_t v_size =
      context.integer("v_head_size", 0) > 0 ? context.integer("v_head_size", 0) : heads.size;
  const std::int64_t keys = multiplied(context, {table[1], cache[1]});
  context.set(0, context.type(0), {tokens, multiplied(context, {heads.q_heads, v_size})});
  const std::int64_t row = multiplied(context, {cache[2], cache[3]});
  for (const std::size_t i : {0u, 1u}) {
    if (!context.has(3 + i)) continue;
    context.set(1 + i, context.type(3 + i), context.shape(3 + i));
    context.reads(3 + i, std::min(element_count(context.shape(3 + i)),
                                  multiplied(context, {table[0], keys, row})));
    context.writes(1 + i, multiplied(context, {tokens, row}));
  }
  if (context.integer("do_rotary", 0) != 0)
    emit_rotary(
        context,
        multiplied(context, {tokens, added(context, {heads.q_heads, heads.kv_heads}), heads.size}),
        8, 9, tokens);
  context.warn("how far its cache is filled depends on data; counted as full (" +
               std::to_string(keys) + " per sequence)");
  emit_attention(context,
                 {1, heads.q_heads, heads.kv_heads, tokens, keys, heads.size, v_size, true, false});
}

}  // namespace

std::span<const Operator> attention_grouped_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "GroupQueryAttention", group_query_attention},
      {"com.microsoft", "SparseAttention", sparse_attention},
      {"com.microsoft", "PagedAttention", paged_attention},
  };
  return rows;
}

}  // namespace ridgeline::onnx
