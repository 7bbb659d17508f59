// Two engines beside each other for people: totals with their ratio, then the layers that differ.
// Formats what the comparison found; decides nothing.
#pragma once

#include <optional>
#include <string>

#include "analyzer/tensorrt/engine_diff.h"

namespace ridgeline {

// `top` limits each list of layers; a line says how many are left out.
std::string engine_diff_text(const tensorrt::EngineDiff& difference, std::optional<std::size_t> top,
                             int width);
std::string engine_diff_markdown(const tensorrt::EngineDiff& difference,
                                 std::optional<std::size_t> top);
std::string engine_diff_csv(const tensorrt::EngineDiff& difference);  // one row per layer

}  // namespace ridgeline
