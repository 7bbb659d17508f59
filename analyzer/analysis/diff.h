// Differences between two analyses: layers added, removed and changed, and both totals. Only
// counted layers are compared, each with its match.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "base/tokens.h"

namespace ridgeline {

// How a layer was matched: by name, by module and result size, products by their sizes, the rest by
// operator and order.
enum class MatchedBy { name, module, size, order };

template <>
struct TokenTable<MatchedBy> {
  static constexpr std::string_view noun = "match";
  static constexpr std::array<std::pair<MatchedBy, std::string_view>, 4> rows{
      {{MatchedBy::name, "name"},
       {MatchedBy::module, "module"},
       {MatchedBy::size, "size"},
       {MatchedBy::order, "order"}}};
};

struct ChangedLayer {
  AnalysisRow before, after;
  MatchedBy matched_by = MatchedBy::name;
  std::vector<std::string> what;  // "op", "dtype", "shape", "macs" …, never empty
};

struct AnalysisDiff {
  static constexpr std::string_view schema = "ridgeline.analysis_diff/1";
  Analysis before, after;
  std::vector<ChangedLayer> changed;  // in the order of `before`
  std::vector<AnalysisRow> removed;   // likewise
  std::vector<AnalysisRow> added;     // in the order of `after`
  std::size_t same = 0;               // number of layers
};

AnalysisDiff diff(Analysis before, Analysis after);

Json to_json(const AnalysisDiff& difference);

}  // namespace ridgeline
