// Checks that many rules make beside those in sizes.h: sizes that must agree or divide evenly.
// Every failure names the numbers; what is required is the rule's own knowledge.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// `size` of something (a noun for the message) that is to be `wanted`.
void want_equal(const NodeContext& context, const std::string& noun, std::int64_t size,
                std::int64_t wanted);

// The input has exactly this shape.
void want_shape(const NodeContext& context, std::size_t input, const Shape& wanted);

// `size` / `parts`, which is to be whole.
std::int64_t divided(const NodeContext& context, const std::string& noun, std::int64_t size,
                     std::int64_t parts);

// Sum of sizes; one that does not fit is an Error.
std::int64_t added(const NodeContext& context, std::initializer_list<std::int64_t> sizes);

// −size … size−1 as 0 … size−1; an Error outside of that.
std::int64_t wrapped_index(const NodeContext& context, std::int64_t index, std::int64_t size);

// Product of the dimensions first … last−1. A zero elsewhere in the shape may have hidden an
// overflow, which is an Error here.
std::int64_t extent(const NodeContext& context, const Shape& shape, std::size_t first,
                    std::size_t last);

}  // namespace ridgeline::onnx
