// Sums of the steps of fusion.
#include "analyzer/fusion/savings.h"

#include <algorithm>

namespace ridgeline {

std::vector<FusionSaving> savings_by_rule(const std::vector<FusionStep>& steps) {
  std::vector<FusionSaving> savings;
  for (const FusionStep& step : steps) {
    auto found = std::find_if(savings.begin(), savings.end(),
                              [&](const FusionSaving& one) { return one.rule == step.rule; });
    if (found == savings.end()) found = savings.insert(savings.end(), {step.rule});
    found->merges += step.merges;
    found->bytes += step.bytes_saved;
    found->flop += step.flop_saved;
    found->int_ops += step.int_ops_saved;
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return savings;
}

}  // namespace ridgeline
