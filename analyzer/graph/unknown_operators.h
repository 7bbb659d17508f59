// Operators of a network without a rule: they count as moving their tensors and nothing else, so
// every number of such a network is a lower bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

struct UnknownOperator {
  std::string op;  // as the file names it
  std::string reason;
  bool has_rule = false;  // known, but its rule lacks a shape or a value
  std::vector<std::string> layers;
};

// One entry per operator and reason, in the order of the layers, including alternative branches.
std::vector<UnknownOperator> unknown_operators(const Graph& graph);

// "unknown operators: Odd ×2 (no rule for this operator), … and 3 more; operators of unknown
// shape: Cast ×1 (…)"; empty if all operators are known.
std::string unknown_text(const std::vector<UnknownOperator>& unknown);

// What to do about them in a file of this format.
std::string remedy_for_unknown(const std::vector<UnknownOperator>& unknown,
                               std::string_view format);

// The first unknown part of a layer, or null.
const Unknown* unknown_part(const Layer& layer);

// Folded and absorbed layers do not run, so their parts are not reported.
inline bool is_reported(const Layer& layer) {
  return layer.standing == Standing::counted || layer.standing == Standing::alternative;
}

}  // namespace ridgeline
