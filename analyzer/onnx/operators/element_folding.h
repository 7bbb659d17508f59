// Folding: computes the elements of small tensors, so that shape arithmetic is known before a run.
// Elements behave as those of the tensor's type; what the type cannot hold becomes unknown, never
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

// The value as an element of this type: floating types round, integers drop the fraction, bool is
// 0 or 1. Unknown where the type has no such value.
Element as_element(long double value, ElementType type);

// True where every one of these inputs may have known elements, without reading any of them: the
// weights beside an activation are not read in vain.
bool may_have_contents(const NodeContext& context, const std::vector<std::size_t>& inputs);

// The elements of an input, as many as its shape says; null where there are none to fold.
const Contents* folded_elements(const NodeContext& context, std::size_t input);

// From each output element to that of an operand that is broadcast to the output's shape.
std::vector<std::size_t> broadcast_indices(const Shape& operand, const Shape& out);

// One element from those of the operands, all of them known.
using Combine = std::function<Element(std::span<const long double>)>;

// Sets the elements of output 0 (whose shape and type are set) from those of the inputs, broadcast.
void fold(NodeContext& context, const std::vector<std::size_t>& inputs, const Combine& combine);

// The same for operands whose shapes are not those of the inputs.
void fold(NodeContext& context, const std::vector<std::size_t>& inputs,
          const std::vector<Shape>& shapes, const Combine& combine);

}  // namespace ridgeline::onnx
