// The table of fusion rules: one row per pattern, with the runtimes that know it.
// A rule looks at two groups of layers and the tensor between them; it moves nothing itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/graph.h"
#include "base/runtime.h"

namespace ridgeline {

// Layers that run as one kernel so far.
struct FusionGroup {
  std::vector<std::size_t> layers;  // indices into the graph, ascending
};

// `consumer` reads the whole of `tensor`, which `producer` makes and nobody else reads.
struct FusionCandidate {
  const Graph& graph;
  const FusionGroup& producer;
  const FusionGroup& consumer;
  TensorId tensor;
};

struct FusionRule {
  std::string_view name;
  bool (*applies)(const FusionCandidate&);
  std::vector<Runtime> runtimes;
};

const std::vector<FusionRule>& fusion_rules();

// Products that read the same input and no result of each other run as one with a wider output.
// True where the runtime does that.
bool joins_siblings(Runtime runtime);

// Layers that depend on weights alone are computed before the first run. True where the runtime
// does that.
bool folds_constants(Runtime runtime);

// True where any rule is the runtime's.
bool fuses(Runtime runtime);

bool is_product(const Op& op);   // convolution or matrix product
bool is_movement(const Op& op);  // elements are moved, or some of them, and none is changed
bool has_product(const Graph& graph, const FusionGroup& group);

}  // namespace ridgeline
