// Shape: the dimensions of a tensor, and arithmetic on them that cannot overflow in silence.
// Dimensions are always known numbers here; symbols are resolved where a file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ridgeline {

using Shape = std::vector<std::int64_t>;

inline constexpr std::int64_t max_dimension = std::int64_t{1} << 40;

// Product of all dimensions (1 for a scalar); nothing where it does not fit, or where a dimension
// is negative or beyond max_dimension.
inline std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool is_empty = false, overflows = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || dimension > max_dimension) return std::nullopt;
    is_empty = is_empty || dimension == 0;
    overflows = __builtin_mul_overflow(count, dimension, &count) || overflows;
  }
  // A zero anywhere makes the tensor empty, however large the other dimensions are.
  if (is_empty) return 0;
  return overflows ? std::nullopt : std::optional(count);
}

// The same for shapes that were checked when they were made.
inline std::int64_t element_count(std::span<const std::int64_t> shape) {
  return checked_element_count(shape).value_or(0);
}

// Shape of an element-wise operation on both, as numpy broadcasts; nothing where they do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// −rank … rank−1 as an index; nothing outside of that.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);

std::string to_string(const Shape& shape);  // "1x3x224x224", "scalar"

}  // namespace ridgeline
