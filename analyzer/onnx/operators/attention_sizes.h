// The sizes of an attention, whatever operator it stands in: batch, heads, lengths, and what is
// done beside the two matrix products. The operators differ in where they keep these.
#pragma once

#include <cstdint>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// An attribute that counts heads; one that is not positive is an Error.
std::int64_t head_count(const NodeContext& context, std::string_view attribute);

// Attention as an Op, in the type of the first input. Query heads must be a multiple of key heads.
void emit_attention(NodeContext& context, const Attention& attention);
void emit_attention(NodeContext& context, const Attention& attention, ElementType type);

// What a bias costs that is added to query, key and value on the way in.
void emit_bias(NodeContext& context, std::int64_t elements);

// Rotates `elements` of query and key, with tables [positions, width] at these inputs, of which
// `rows` are read each. Tables that are left out are not read.
void emit_rotary(NodeContext& context, std::int64_t elements, std::size_t cosines,
                 std::size_t sines, std::int64_t rows);

// A mask that is added to the scores, not one that only gives lengths.
bool is_additive_mask(const NodeContext& context, std::size_t input);

}  // namespace ridgeline::onnx
