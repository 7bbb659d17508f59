// Shape: the dimensions of a tensor, and overflow-checked arithmetic on them. Dimensions are always
// numbers here; front ends resolve symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ridgeline {

using Shape = std::vector<std::int64_t>;

inline constexpr std::int64_t max_dimension = std::int64_t{1} << 40;

// Product of all dimensions (1 for a scalar); nothing on overflow, or if a dimension is negative or
// beyond max_dimension.
inline std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool is_empty = false, overflows = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0 || dimension > max_dimension) return std::nullopt;
    is_empty = is_empty || dimension == 0;
    overflows = __builtin_mul_overflow(count, dimension, &count) || overflows;
  }
  // A zero makes the tensor empty, however large the other dimensions are.
  if (is_empty) return 0;
  return overflows ? std::nullopt : std::optional(count);
}

// For shapes already checked.
inline std::int64_t element_count(std::span<const std::int64_t> shape) {
  return checked_element_count(shape).value_or(0);
}

// Shape of an element-wise operation on both, as numpy broadcasts; nothing if they do not match.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// Maps −rank … rank−1 to an index; nothing outside that range.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);

std::string to_string(const Shape& shape);  // "1x3x224x224", "scalar"

}  // namespace ridgeline
