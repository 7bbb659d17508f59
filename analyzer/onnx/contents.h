// Contents: the elements of a small tensor, as far as shape inference can determine them. For shape
// arithmetic only; weights are never stored here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ridgeline::onnx {

// long double holds every int64 and every double exactly. An element without a value depends on the
// input data.
using Element = std::optional<long double>;
using Contents = std::vector<Element>;

// Shapes never depend on larger tensors.
inline constexpr std::size_t max_contents = 4096;

}  // namespace ridgeline::onnx
