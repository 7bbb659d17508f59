// What language models share: tokens and positions, the cache of keys and values, the head.
// Blocks are each family's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/builder.h"

namespace ridgeline {

// [batch, tokens]: the whole prompt, or the one token that is decoded.
Operand token_input(NetworkBuilder& net, std::string_view name = "input_ids");

// [1, tokens]: the places of these tokens, which follow from sizes alone.
Operand token_positions(NetworkBuilder& net);

// A usage error where prompt or context are longer than the model can place.
void check_positions(const NetworkBuilder& net, std::int64_t limit);

// Keys and values of the tokens before: inputs where one token is decoded, else nothing.
std::optional<KeyValue> cached(NetworkBuilder& net, std::int64_t layer, std::int64_t kv_heads,
                               std::int64_t head_width);

// Outputs: the logits of those tokens that are asked for, by a head that shares the table of
// tokens, or the result of every token; then keys and values, which the caller keeps in its cache.
void finish(NetworkBuilder& net, Operand x, Operand table, const std::vector<KeyValue>& made);

}  // namespace ridgeline
