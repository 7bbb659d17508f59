// Fusion: which layers a runtime runs as one kernel. A pass from Graph to Graph: a fused layer
// holds the parts of all its sources, and data between them is no longer moved. Never changes MACs,
// never adds bytes. Each rule is one row of the table in analyzer/fusion/rules.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/runtime.h"

namespace ridgeline {

// Effect of one rule in one kernel, to explain a difference in bytes or FLOP.
struct AppliedRule {
  std::string rule;
  std::string kernel;      // name of its first layer at the time
  std::size_t merges = 1;  // number of merges of two groups
  double bytes_saved = 0, flop_saved = 0;
  double int_ops_saved = 0;  // negative if a folded scale turns FLOP into integer operations
};

// Whether fuse() does anything for this graph.
bool changes_layers(const Graph& graph, Runtime runtime);

// The graph of a runtime's kernels; Layer::sources lists the layers of each. Folded, absorbed and
// alternative layers are unchanged.
Graph fuse(Graph graph, Runtime runtime);

// Also returns the savings of each rule, which add up to the whole difference in bytes and FLOP.
// Removed views and casts to the same type, and tensors that were read under two names, are
// reported as rule "views".
struct ItemizedFusion {
  Graph graph;
  std::vector<AppliedRule> applied;
};
ItemizedFusion itemized_fusion(const Graph& graph, Runtime runtime,
                               const OpWeights& weights = default_weights());

// Savings per rule, largest first: the difference between a network's layers and its kernels.
struct FusionSaving {
  std::string rule;
  std::size_t merges = 0;
  double bytes = 0, flop = 0, int_ops = 0;
};
std::vector<FusionSaving> savings_by_rule(const std::vector<AppliedRule>& applied);

}  // namespace ridgeline
