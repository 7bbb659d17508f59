// Sizes of an attention, for all attention operators: batch, heads, lengths, and the work beside
// the two matrix products. Each operator reads them from its own inputs.
#pragma once

#include <cstdint>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// A number of heads from an attribute; an Error unless positive.
std::int64_t head_count(const NodeContext& context, std::string_view attribute);

// Emits an Attention, in the type of the first input. Query heads must be a multiple of key heads.
void emit_attention(NodeContext& context, const Attention& attention);
void emit_attention(NodeContext& context, const Attention& attention, ElementType type);

// Emits the addition of a bias to query, key and value.
void emit_bias(NodeContext& context, std::int64_t elements);

// Rotates `elements` of query and key, with tables [positions, width] at these inputs, of which
// `rows` are read each. Omitted tables are not read.
void emit_rotary(NodeContext& context, std::int64_t elements, std::size_t cosines,
                 std::size_t sines, std::int64_t rows);

// A mask that is added to the scores, unlike one that only gives lengths.
bool is_additive_mask(const NodeContext& context, std::size_t input);

}  // namespace ridgeline::onnx
