// An explanation for people: verdict, totals, the layers that take longest, advice.
// Text only; data is in roofline/explain/explanation.h.
#pragma once

#include <string>

#include "roofline/explain/explanation.h"

namespace ridgeline {

// At most `width` columns; `all` shows every layer instead of the longest.
std::string explanation_text(const Explanation& explanation, bool all, int width);

}  // namespace ridgeline
