// Folding for operators that move elements without computing. For arithmetic see element_folding.h.
// Shapes depend on integers, and on floats only in small numbers: more of them are weights, which
// are not read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

inline constexpr std::size_t max_floating_contents = 64;

// Whether a tensor of this type and shape is small enough to fold.
bool is_foldable(ElementType type, const Shape& shape);

// The elements of an input, as many as its shape has; null if not worth folding.
const Contents* foldable(const NodeContext& context, std::size_t input);

// Strides of a foldable shape, in elements.
Shape strides(const Shape& shape);

// Calls `visit` with the coordinates of every element of a foldable shape, in flat order.
void for_each_place(const Shape& shape, const std::function<void(const Shape&)>& visit);

// Sets the elements of `output`, whose shape is set: for each place, the element of `from` at the
// flat index that `source` returns, or `fill` if it returns nothing. No effect on large outputs.
void fold_moved(NodeContext& context, std::size_t output, const Contents& from,
                const std::function<std::optional<std::int64_t>(const Shape&)>& source,
                Element fill = std::nullopt);

// Copies the elements of an input to an output of the same element count.
void pass_contents(NodeContext& context, std::size_t input, std::size_t output);

}  // namespace ridgeline::onnx
