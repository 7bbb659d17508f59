// Fusion: which layers a runtime runs as one kernel. A pass on Ops: the result is a Graph again, in
// which a layer holds the parts of all that were fused into it, and what passed between them is not
// moved any more.
// Never changes MACs, never adds bytes; each rule is one row of the table in
// analyzer/fusion/rules.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/runtime.h"

namespace ridgeline {

// What one rule did in one kernel, for the sentence that explains a difference of bytes or FLOP.
struct AppliedRule {
  std::string rule;
  std::string kernel;      // by the first of its layers then
  std::size_t merges = 1;  // times that the rule joined two groups of them
  double bytes_saved = 0, flop_saved = 0;
  double int_ops_saved = 0;  // below zero where a folded scale makes integers of floating point
};

// The graph of a runtime's kernels; Layer::sources names the layers that each came from. Layers
// that are folded, absorbed or alternatives stay as they are.
Graph fuse(Graph graph, Runtime runtime);

// The same, with what each rule saves: together all that the fused graph moves and computes less.
// What goes with views and casts to the same type, and tensors that were read under two names and
// are read once then, have an entry of their own (rule "views").
struct ItemizedFusion {
  Graph graph;
  std::vector<AppliedRule> applied;
};
ItemizedFusion itemized_fusion(const Graph& graph, Runtime runtime,
                               const OpWeights& weights = default_weights());

// What fusion saves, rule by rule, the largest first: the difference between a network's layers and
// its kernels.
struct FusionSaving {
  std::string rule;
  std::size_t merges = 0;
  double bytes = 0, flop = 0, int_ops = 0;
};
std::vector<FusionSaving> savings_by_rule(const std::vector<AppliedRule>& applied);

}  // namespace ridgeline
