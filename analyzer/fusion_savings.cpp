// Sums of the steps of fusion.
#include "analyzer/fusion_savings.h"

#include <algorithm>

#include "analyzer/fusion.h"

namespace ridgeline {

std::vector<FusionSaving> fusion_savings(const Graph& graph, Runtime runtime,
                                         const OpWeights& weights) {
  std::vector<FusionSaving> savings;
  for (const FusionStep& step : itemized_fusion(graph, runtime, weights)) {
    auto found = std::find_if(savings.begin(), savings.end(),
                              [&](const FusionSaving& one) { return one.rule == step.rule; });
    if (found == savings.end()) found = savings.insert(savings.end(), {step.rule});
    ++found->steps;
    found->bytes += step.bytes_saved;
    found->flop += step.flop_saved;
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return savings;
}

}  // namespace ridgeline
