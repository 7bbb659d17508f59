// Contents: the elements of a small tensor as far as they are known while shapes are inferred.
// Shape arithmetic needs them; weights never get here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ridgeline::onnx {

// long double holds every int64 and every double exactly, so one type serves both. An element
// without a value depends on the input data.
using Element = std::optional<long double>;
using Contents = std::vector<Element>;

// Larger tensors are never needed for a shape.
inline constexpr std::size_t max_contents = 4096;

}  // namespace ridgeline::onnx
