// The sentences around the table of an analysis: what was counted and how, and what it amounts to.
// Text only; the table is in report/analysis.h.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

// File, layers or kernels, batch, rule set and where the shapes come from.
std::string heading_text(const Analysis& analysis);

std::size_t kernel_count(const Analysis& analysis);  // that are launched, of its runtime

// "pagoda,training": the rule set with its options.
std::string rules_text(const Analysis& analysis);

// "at batch 8": shapes by their source, for headings.
std::string shapes_text(const Analysis& analysis);

// One line each: parameters, bytes, classes, dtypes, `hidden`, alternatives, unknown, warnings.
std::vector<std::string> fact_texts(const Analysis& analysis, const std::string& hidden);

// The first warnings, and how many more there are.
std::vector<std::string> warning_texts(const Analysis& analysis);

}  // namespace ridgeline
