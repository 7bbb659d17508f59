// Parts that language models share: tokens and positions, the cache of keys and values, the head.
// Each family has its own blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/builder.h"

namespace ridgeline {

// [batch, tokens]: the whole prompt, or the one token that decoding adds.
Operand token_input(NetworkBuilder& net, std::string_view name = "input_ids");

// [1, tokens]: the positions of these tokens, which follow from the sizes.
Operand token_positions(NetworkBuilder& net);

// A usage error if the prompt or context has more tokens than the model has positions.
void check_positions(const NetworkBuilder& net, std::int64_t limit);

// Keys and values of earlier tokens: inputs when decoding, else nothing.
std::optional<KeyValue> cached(NetworkBuilder& net, std::int64_t layer, std::int64_t kv_heads,
                               std::int64_t head_width);

// Outputs: the logits of the requested tokens, by a head that shares the token table, or the result
// of every token; then keys and values, which the caller keeps in its cache.
void finish(NetworkBuilder& net, Operand x, Operand table, const std::vector<KeyValue>& made);

}  // namespace ridgeline
