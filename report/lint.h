// Lint findings for people: the largest loss first, each with its layers and its remedy.
// Text, CSV and Markdown only; rules are in analyzer/tensorrt/lint/.
#pragma once

#include <string>

#include "analyzer/tensorrt/lint/lint.h"

namespace ridgeline {

// At most `width` columns; `all` shows every layer of a finding instead of the first.
std::string lint_text(const tensorrt::LintReport& report, bool all, int width);
std::string lint_csv(const tensorrt::LintReport& report);  // one row per finding and layer
std::string lint_markdown(const tensorrt::LintReport& report);

}  // namespace ridgeline
