// Sizes: arithmetic and checks on shapes that operator rules share. Numbers come from a file, so
// every product is checked; overflow is an Error with the node and the numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "analyzer/graph/shape.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// Product of non-negative sizes; an Error on overflow.
std::int64_t multiplied(const NodeContext& context, std::initializer_list<std::int64_t> sizes);
std::int64_t multiplied(const NodeContext& context, const Shape& sizes);

// Shape of an element-wise operation on these; an Error if they do not broadcast.
Shape broadcast_shapes(const NodeContext& context, const Shape& a, const Shape& b);
Shape broadcast_inputs(const NodeContext& context, const std::vector<std::size_t>& inputs);

// An Error unless the input broadcasts to the shape without changing it.
void want_broadcastable_to(const NodeContext& context, std::size_t input, const Shape& shape);
// An Error unless the input is a vector of this length; `what` describes it, for example "output
// channels".
void want_vector(const NodeContext& context, std::size_t input, std::int64_t length,
                 const std::string& what);
void want_rank_at_least(const NodeContext& context, std::size_t input, std::size_t rank);
void want_rank(const NodeContext& context, std::size_t input, std::size_t rank);

// "'x' 1x3x224x224", for errors.
std::string named(const NodeContext& context, std::size_t input);

}  // namespace ridgeline::onnx
