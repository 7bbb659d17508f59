// Steering: axes, sizes, pads and the like, which are attributes in older opsets and inputs in
// newer ones. These functions hide the difference from the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// The integers of the input if the node has it (CannotInfer if they depend on data), else of the
// attribute; nothing if there is neither. Marks the input as not data.
std::optional<std::vector<std::int64_t>> steering(NodeContext& context, std::size_t input,
                                                  std::string_view attribute);

// The only element of an input; an Error if it has more, CannotInfer if it depends on data. Marks
// the input as not data.
std::int64_t steering_integer(NodeContext& context, std::size_t input);
long double steering_number(NodeContext& context, std::size_t input);

// Elements of an input of rank 1 at most; unknown ones are empty. CannotInfer if even their number
// is unknown, an Error if one is not an integer.
std::vector<std::optional<std::int64_t>> partly_known_integers(const NodeContext& context,
                                                               std::size_t input);

}  // namespace ridgeline::onnx
