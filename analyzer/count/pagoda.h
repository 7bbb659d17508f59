// The rule set `pagoda`: counts as the estimator of github.com/dream-lab/pagoda does, with what it
// leaves out and overstates, so that its published totals can be compared with.
// Written from a description of its rules; no code of it is here. docs/counting.md states them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

struct PagodaOptions {
  std::int64_t batch = 1;  // a factor: shapes are those of the file, unknown ones 1
  std::optional<std::int64_t> matmul_seq =
      std::nullopt;           // sequence length that a MatMul's operands are given
  bool lstm_variant = false;  // the rules of its estimates_lstm: 32 steps
  bool training = false;      // everything three times
};

// "matmul_seq=8,training"; the batch is not part of it. Throws a usage error.
PagodaOptions parse_pagoda_options(std::string_view text, const std::string& where);

// The same way round; empty where nothing is chosen.
std::string to_text(const PagodaOptions& options);

// The graph is to be imported with every free dimension 1 and quantisation left as it is.
Analysis analyze_by_pagoda(const Graph& graph, const PagodaOptions& options);

}  // namespace ridgeline
