// Operators of a network that no front end has described yet: they are counted as moving their
// tensors and nothing else, so every number of such a network is a lower bound.
#pragma once

#include <string>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

struct UnknownOperator {
  std::string op;  // in the file's own words
  std::string reason;
  std::vector<std::string> layers;
};

// One entry per operator and reason, in the order of the layers; branches that are not taken into
// the totals are included.
std::vector<UnknownOperator> unknown_operators(const Graph& graph);

// "Odd ×2 (no rule for this operator), … and 3 more"; empty where all operators are known.
std::string unknown_text(const std::vector<UnknownOperator>& unknown);

// The first part of a layer that is unknown; null where all are known.
const Unknown* unknown_part(const Layer& layer);

// Not folded or absorbed: what such a layer consists of does not matter at run time.
inline bool is_reported(const Layer& layer) {
  return layer.standing == Standing::counted || layer.standing == Standing::alternative;
}

}  // namespace ridgeline
