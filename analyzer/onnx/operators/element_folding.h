// Folding: computes the elements of small tensors, so that shape arithmetic is resolved before a
// run. Elements follow the tensor's type; a value that the type cannot hold becomes unknown, never
// wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/shape.h"
#include "analyzer/onnx/contents.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// The value as an element of this type: floating types round, integers drop the fraction, bool is 0
// or 1. Unknown if the type cannot hold it.
Element as_element(long double value, ElementType type);

// Whether all of these inputs may have known elements, without reading any: avoids reading the
// weights beside an activation.
bool may_have_contents(const NodeContext& context, const std::vector<std::size_t>& inputs);

// The elements of an input, as many as its shape has; null if there are none to fold.
const Contents* folded_elements(const NodeContext& context, std::size_t input);

// Maps each output element to that of an operand broadcast to the output's shape.
std::vector<std::size_t> broadcast_indices(const Shape& operand, const Shape& out);

// One element from those of the operands, which are all known.
using Combine = std::function<Element(std::span<const long double>)>;

// Sets the elements of output 0 (whose shape and type are set) from those of the inputs, broadcast.
void fold(NodeContext& context, const std::vector<std::size_t>& inputs, const Combine& combine);

// The same for operands whose shapes are not those of the inputs.
void fold(NodeContext& context, const std::vector<std::size_t>& inputs,
          const std::vector<Shape>& shapes, const Combine& combine);

}  // namespace ridgeline::onnx
