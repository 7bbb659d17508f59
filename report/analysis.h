// An analysis as text: a table for people with the sentences around it, the same as Markdown, every
// row as CSV. Formats what the analysis says; decides only what is shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/groups.h"

namespace ridgeline {

struct TableOptions {
  RowOrder order = RowOrder::graph;
  std::optional<std::size_t> top;  // rows that are shown; the others are one row
  std::optional<Grouping> group_by;
  std::size_t module_depth = default_module_depth;
  bool all = false;  // rows without work too
};

// Heading, table with its total, then parameters, classes, dtypes, unknown operators, warnings.
std::string analysis_text(const Analysis& analysis, const TableOptions& options, int width);
std::string analysis_markdown(const Analysis& analysis, const TableOptions& options);

// Plain numbers: every row, or every group, without a total.
std::string analysis_csv(const Analysis& analysis, const TableOptions& options);

// "resnet50.onnx": the last part of a path.
std::string model_name(const Analysis& analysis);

// "118 M", "3.85 MB", "0.250": amounts as the tables show them.
std::string amount_text(double amount);
std::string bytes_text(double bytes, bool is_lower_bound = false);
std::string intensity_text(const std::optional<double>& flop_per_byte);

std::size_t kernel_count(const Analysis& analysis);  // that are launched, of its runtime

// "pagoda,training": the rule set with its options.
std::string rules_text(const Analysis& analysis);

// "at batch 8": shapes by their source, for headings.
std::string shapes_text(const Analysis& analysis);

// The first warnings, and how many more there are.
std::vector<std::string> warning_texts(const Analysis& analysis);

}  // namespace ridgeline
