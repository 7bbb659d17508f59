// Moving folded elements: outputs of operators that move elements without computing on them.
// Arithmetic on elements is in element_folding.h. Integers matter for shapes; floating elements
// only where they are few, since more of them are weights, which stay unread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

inline constexpr std::size_t max_floating_contents = 64;

// Whether a tensor of this type and shape is small enough to be folded.
bool is_foldable(ElementType type, const Shape& shape);

// The elements of an input where they are worth folding, as many as its shape says; null otherwise.
const Contents* foldable(const NodeContext& context, std::size_t input);

// Steps in the flat order of elements, per axis, of a shape that is foldable.
Shape strides(const Shape& shape);

// Calls `visit` with the coordinates of every element of a foldable shape, in flat order.
void for_each_place(const Shape& shape, const std::function<void(const Shape&)>& visit);

// Gives output `output`, whose shape is set, the element of `from` at the flat index that `source`
// returns for each place, or `fill` where it returns nothing. Does nothing where it is too large.
void fold_moved(NodeContext& context, std::size_t output, const Contents& from,
                const std::function<std::optional<std::int64_t>(const Shape&)>& source,
                Element fill = std::nullopt);

// The elements of an input become those of an output with as many.
void pass_contents(NodeContext& context, std::size_t input, std::size_t output);

}  // namespace ridgeline::onnx
