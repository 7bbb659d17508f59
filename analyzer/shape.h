// Shape: the dimensions of a tensor, and arithmetic on them that cannot overflow in silence.
// Dimensions are always known numbers here; symbols are resolved where a file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridgeline {

using Shape = std::vector<std::int64_t>;

inline constexpr std::int64_t max_dimension = std::int64_t{1} << 40;

// Product of all dimensions (1 for a scalar); nothing where it does not fit, or where a dimension
// is negative or beyond max_dimension.
std::optional<std::int64_t> checked_element_count(const Shape& shape);

// The same for shapes that were checked when they were made.
std::int64_t element_count(const Shape& shape);

// Shape of an element-wise operation on both, as numpy broadcasts; nothing where they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// −rank … rank−1 as an index; nothing outside of that.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);

std::string to_string(const Shape& shape);  // "1x3x224x224", "scalar"

}  // namespace ridgeline
