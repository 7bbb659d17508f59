// Emission: parts of a layer that several families share: a fused activation, a bias, arithmetic in
// the type of a given input.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// Work in the dtype of this element type, whatever the types of the other inputs (scales,
// conditions).
void emit_in(NodeContext& context, Op op, ElementType type);
void emit_elementwise(NodeContext& context, ElementFunction function, std::int64_t elements);

// An activation fused into another operator, by the name in its attribute; none for "" and "none".
// An unknown name is an Error.
void emit_activation(NodeContext& context, std::string_view name, std::int64_t elements);

// Output 0 has the type and shape of input 0, and each element is a function of one element.
void unary_like_input(NodeContext& context, ElementFunction function);

// The element type of the first of these inputs whose type is known.
ElementType first_known_type(const NodeContext& context, const std::vector<std::size_t>& inputs);

}  // namespace ridgeline::onnx
