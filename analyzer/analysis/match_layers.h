// Which layer of one network is which of another: by name, then by the module that they stand in
// and what they make, then products by their sizes, the rest by operator and order. Only layers
// that are counted have partners.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "base/tokens.h"

namespace ridgeline {

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

struct LayerMatch {
  std::size_t index = 0;  // into `after`
  MatchedBy by = MatchedBy::name;
};

// For each of `before`, its partner if it has one. No two have the same.
std::vector<std::optional<LayerMatch>> match_layers(const std::vector<AnalysisRow>& before,
                                                    const std::vector<AnalysisRow>& after);

}  // namespace ridgeline
