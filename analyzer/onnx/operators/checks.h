// Checks that many rules share, beside those in sizes.h: sizes that must agree or divide evenly.
// Every failure message gives the numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

// An Error unless `size` is `wanted`; `noun` describes it in the message.
void want_equal(const NodeContext& context, const std::string& noun, std::int64_t size,
                std::int64_t wanted);

// An Error unless the input has exactly this shape.
void want_shape(const NodeContext& context, std::size_t input, const Shape& wanted);

// `size` / `parts`; an Error if there is a remainder.
std::int64_t divided(const NodeContext& context, const std::string& noun, std::int64_t size,
                     std::int64_t parts);

// Sum of sizes; an Error on overflow.
std::int64_t added(const NodeContext& context, std::initializer_list<std::int64_t> sizes);

// Maps −size … size−1 to 0 … size−1; an Error outside that range.
std::int64_t wrapped_index(const NodeContext& context, std::int64_t index, std::int64_t size);

// Product of the dimensions first … last−1. An Error on overflow, which a zero elsewhere in the
// shape may have hidden before.
std::int64_t extent(const NodeContext& context, const Shape& shape, std::size_t first,
                    std::size_t last);

}  // namespace ridgeline::onnx
