// Checked arithmetic on tensor dimensions. Shape inference of operators is in their front end.
#include "analyzer/graph/shape.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace ridgeline {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t dimension : shape) {
    std::array<char, 20> digits;  // enough for any int64
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), dimension).ptr;
    if (!text.empty()) text += 'x';
    text.append(digits.data(), end);
  }
  return text;
}

}  // namespace ridgeline
