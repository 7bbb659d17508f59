// Two analyses beside each other as text: totals with their ratio, then the layers that differ.
// Formats what the comparison found; decides nothing.
#pragma once

#include <optional>
#include <string>

#include "analyzer/analysis/diff.h"

namespace ridgeline {

// `top` limits each list of layers; a line says how many are left out.
std::string diff_text(const AnalysisDiff& difference, std::optional<std::size_t> top, int width);
std::string diff_markdown(const AnalysisDiff& difference, std::optional<std::size_t> top);

// One row per layer that differs, with both sides' numbers.
std::string diff_csv(const AnalysisDiff& difference);

}  // namespace ridgeline
