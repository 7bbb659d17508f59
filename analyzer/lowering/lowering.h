// Lowering: turns a Graph into the list of kernels that a runtime would launch. Everything after
// it, from roofline to planner, sees Demands only. Work is counted on the fused layers, so it sums
// to the Graph's minus what fusion saves.
#pragma once

#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/runtime.h"

namespace ridgeline {

// In execution order. Layers without cost at run time (folded, absorbed, alternatives) have no
// Demand; views have one without launches if the runtime dispatches them one by one.
std::vector<Demand> lower(const Graph& graph, Runtime runtime,
                          const OpWeights& weights = default_weights());
std::vector<Demand> lower(Graph&& graph, Runtime runtime,
                          const OpWeights& weights = default_weights());

// For a graph that fuse() made for this runtime and whose layers are already counted.
std::vector<Demand> lower_fused(const Graph& fused, Runtime runtime,
                                const std::vector<LayerCount>& counts);

// Kernels launched by one trip through a layer.
int kernel_launches(const Layer& layer, Runtime runtime);

}  // namespace ridgeline
