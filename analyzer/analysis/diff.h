// What differs between two analyses: layers added, removed and changed, and the totals beside each
// other. Only counted layers are compared, each with its match.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/match_layers.h"

namespace ridgeline {

struct ChangedLayer {
  AnalysisRow before, after;
  MatchedBy matched_by = MatchedBy::name;
  std::vector<std::string> what;  // "op", "dtype", "shape", "macs" …, never empty
};

struct AnalysisDiff {
  static constexpr std::string_view schema = "ridgeline.analysis_diff/1";
  Analysis before, after;
  std::vector<ChangedLayer> changed;  // in the order of `before`
  std::vector<AnalysisRow> removed;   //
  std::vector<AnalysisRow> added;     // in the order of `after`
  std::size_t same = 0;               // layers
};

AnalysisDiff diff(Analysis before, Analysis after);

Json to_json(const AnalysisDiff& difference);

}  // namespace ridgeline
