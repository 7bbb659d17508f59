// com.microsoft's fused embeddings and position biases. Only the rows looked up are read from a
// table.
#include <algorithm>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

// Looks up words, positions and segments, adds them and normalises. The quantised form has int8
// tables, followed by their scales, and computes in the type of the scales.
void embed(NodeContext& context, std::size_t mask, ElementType result) {
  want_rank(context, 0, 2);
  want_rank(context, 2, 2);
  const Shape& ids = context.shape(0);
  const std::int64_t width = context.shape(2)[1];
  const std::int64_t tokens = multiplied(context, {ids[0], ids[1]});
  const Shape shape{ids[0], ids[1], width};
  context.set(0, result, shape);
  context.set(1, context.type(0), {ids[0]});
  context.set(2, result, shape);
  const std::int64_t count = element_count(shape);
  // Positions are the same for every sample.
  const std::int64_t rows[] = {tokens, ids[1], tokens};
  int tables = 0;
  for (const std::size_t table : {2u, 3u, 4u}) {
    if (!context.has(table)) continue;
    want_equal(context, "the width of a table", context.dimension(table, 1), width);
    const std::int64_t looked_up = std::min(rows[table - 2], context.shape(table)[0]);
    context.reads(table, multiplied(context, {looked_up, width}));
    ++tables;
  }
  emit_in(context, Elementwise{ElementFunction::add, multiplied(context, {count, tables - 1})},
          result);
  emit_in(context, Normalize{Normalization::layer, count, tokens, true, false, 0}, result);
  if (context.has(mask))
    context.emit(Reduce{Reduction::sum, element_count(context.shape(mask)), ids[0]});
}

void embed_layer_normalization(NodeContext& context) { embed(context, 7, context.type(2)); }

void quantized_embed_layer_normalization(NodeContext& context) {
  embed(context, 7, context.type(8));
}

// A bias per head and pair of positions, looked up by their distance.
void relative_position_bias(NodeContext& context) {
  want_rank(context, 0, 2);
  const std::int64_t queries = steering_integer(context, 1);
  const std::int64_t keys = steering_integer(context, 2);
  const Shape shape{1, context.shape(0)[1], queries, keys};
  context.set(0, context.type(0), shape);
  context.emit(Copy{});
}

// A gate per head and query, from a small projection of the query, scales the bias.
void gated_relative_position_bias(NodeContext& context) {
  const Shape& query = context.shape(0);
  want_rank(context, 2, 4);
  want_rank(context, 3, 2);
  const std::int64_t heads = context.shape(2)[1], length = context.shape(2)[2];
  const std::int64_t batch = query.size() == 3 ? query[0] : context.dimension(6, 0);
  const Shape shape{batch, heads, length, length};
  context.set(0, context.type(0), shape);
  const std::int64_t gates = multiplied(context, {batch, heads, length});
  const Shape& weights = context.shape(3);
  emit_elementwise(context, ElementFunction::add, element_count(query));
  context.emit(MatMul{1, gates, weights[1], weights[0], true});
  emit_elementwise(context, ElementFunction::sigmoid, multiplied(context, {2, gates}));
  emit_elementwise(context, ElementFunction::multiply, element_count(shape));
}

}  // namespace

std::span<const Operator> embedding_operators() {
  static constexpr Operator rows[] = {
      {"com.microsoft", "EmbedLayerNormalization", embed_layer_normalization},
      {"com.microsoft", "QEmbedLayerNormalization", quantized_embed_layer_normalization},
      {"com.microsoft", "RelativePositionBias", relative_position_bias},
      {"com.microsoft", "GatedRelativePositionBias", gated_relative_position_bias},
  };
  return rows;
}

}  // namespace ridgeline::onnx
