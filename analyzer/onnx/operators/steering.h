// Steering: axes, sizes, pads and the like, which stood in attributes in older opsets and come as
// inputs in newer ones. A rule that asks here need not know in which opset it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// The integers of the input where the node has it (CannotInfer where they depend on data), else of
// the attribute; nothing where there is neither. The input is not data to move.
std::optional<std::vector<std::int64_t>> steering(NodeContext& context, std::size_t input,
                                                  std::string_view attribute);

// The only element of an input that is a scalar or holds one element; an Error where it holds more,
// CannotInfer where it depends on data. The input is not data to move.
std::int64_t steering_integer(NodeContext& context, std::size_t input);
long double steering_number(NodeContext& context, std::size_t input);

// Elements that may be unknown, in an input of rank 1 at most; CannotInfer where not even their
// number is known. Elements that are no integers are an Error.
std::vector<std::optional<std::int64_t>> partly_known_integers(const NodeContext& context,
                                                               std::size_t input);

}  // namespace ridgeline::onnx
