// Two networks on one machine for people: what the second saves or costs, in total and by layer.
// Text only; data is in roofline/explain/explanation_diff.h.
#pragma once

#include <string>

#include "roofline/explain/explanation_diff.h"

namespace ridgeline {

// At most `width` columns; `all` shows every layer instead of those that differ most.
std::string explanation_diff_text(const ExplanationDiff& difference, bool all, int width);

}  // namespace ridgeline
