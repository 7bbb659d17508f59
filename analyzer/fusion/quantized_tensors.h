// Quantised tensors between layers, for runtimes that move quantise and dequantise steps: a layer
// reads and writes the quantised tensor itself, and the step beside it is absorbed. Products are
// done by then (absorb_quantization.h); this is for sums, pools, concatenations and the like.
#pragma once

#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/graph/graph.h"
#include "base/runtime.h"

namespace ridgeline {

// For a graph without views. Returns whether it changed anything; layers are then no longer in the
// order of execution. Does nothing for a runtime that runs the steps as they are. If `applied` is
// given, records what it saves, by these weights.
bool quantize_tensors(Graph& graph, Runtime runtime, const OpWeights* weights = nullptr,
                      std::vector<AppliedRule>* applied = nullptr);

}  // namespace ridgeline
