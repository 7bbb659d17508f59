// Lowering: a Graph becomes the list of kernels that a runtime would launch. Fusion, training
// passes and front ends end here; everything to the right sees Demands only. Work is counted on the
// fused layers, so it sums to the Graph's minus what fusion saves.
#pragma once

#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/count/op_weights.h"
#include "analyzer/graph/graph.h"
#include "base/demand.h"
#include "base/runtime.h"

namespace ridgeline {

// In the order of execution. Layers that cost nothing at run time (folded, absorbed, alternatives)
// have no Demand; views have one without launches where the runtime walks through them one by one.
std::vector<Demand> lower(const Graph& graph, Runtime runtime,
                          const OpWeights& weights = default_weights());
std::vector<Demand> lower(Graph&& graph, Runtime runtime,
                          const OpWeights& weights = default_weights());

// Of a graph that fuse() made for this runtime, and whose layers are counted already.
std::vector<Demand> lower_fused(const Graph& fused, Runtime runtime,
                                const std::vector<LayerCount>& counts);

// Kernels that one trip through a layer launches.
int kernel_launches(const Layer& layer, Runtime runtime);

}  // namespace ridgeline
