// An explanation for people: verdict, totals, the layers that take longest, advice; and what a
// second network saves or costs on the same machine. Text only; data is in roofline/explain/.
#pragma once

#include <string>

#include "roofline/explain/explanation.h"
#include "roofline/explain/explanation_diff.h"
#include "roofline/explain/timeline.h"

namespace ridgeline {

// At most `width` columns; `all` shows every layer instead of the longest.
std::string explanation_text(const Explanation& explanation, bool all, int width);

// In total and by layer; `all` shows every layer instead of those that differ most.
std::string explanation_diff_text(const ExplanationDiff& difference, bool all, int width);

// A trace for Perfetto (ui.perfetto.dev), chrome://tracing or speedscope: predicted kernels and
// host work, and measured kernels where there are times. The explanation's layers must be those of
// the timeline, in the same order.
std::string trace_json(const Explanation& explanation, const Timeline& timeline);

}  // namespace ridgeline
