// The rule set `pagoda`: counts like the estimator of github.com/dream-lab/pagoda, including its
// omissions and overcounts, for comparison with its published totals. Written from a description of
// its rules, without its code. docs/counting.md states them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

struct PagodaOptions {
  std::int64_t batch = 1;  // a factor: shapes are the file's, unknown sizes 1
  std::optional<std::int64_t> matmul_seq =
      std::nullopt;           // sequence length that a MatMul's operands are given
  bool lstm_variant = false;  // the rules of Pagoda's estimates_lstm: 32 steps
  bool training = false;      // everything three times
};

// Parses "matmul_seq=8,training", without the batch. Throws a usage error.
PagodaOptions parse_pagoda_options(std::string_view text, const std::string& where);

// The inverse; empty for the defaults.
std::string to_text(const PagodaOptions& options);

// The graph must be imported with every free dimension 1 and without absorbing quantisation.
Analysis analyze_by_pagoda(const Graph& graph, const PagodaOptions& options);

}  // namespace ridgeline
