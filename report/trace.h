// A run as a trace for Perfetto (ui.perfetto.dev), chrome://tracing or speedscope: predicted
// kernels and host work, and measured kernels where there are times. Text only.
#pragma once

#include <string>

#include "roofline/explain/explanation.h"
#include "roofline/explain/timeline.h"

namespace ridgeline {

// The explanation's layers must be those of the timeline, in the same order.
std::string trace_json(const Explanation& explanation, const Timeline& timeline);

}  // namespace ridgeline
