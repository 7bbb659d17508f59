// What fusion saves, rule by rule: the difference between a network's layers and its kernels.
#pragma once

#include <string>
#include <vector>

#include "analyzer/graph.h"
#include "analyzer/op_weights.h"
#include "base/runtime.h"

namespace ridgeline {

struct FusionSaving {
  std::string rule;
  std::size_t steps = 0;
  double bytes = 0, flop = 0;
};

// The largest first; nothing where the runtime fuses nothing.
std::vector<FusionSaving> fusion_savings(const Graph& graph, Runtime runtime,
                                         const OpWeights& weights = default_weights());

}  // namespace ridgeline
