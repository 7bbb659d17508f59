// The trait of a layer's kernel: what sets it apart from others of its kind. Read from the Ops and
// shapes of the layer; whether its rate was ever measured is decided in roofline/.
#pragma once

#include <cstdint>

#include "analyzer/graph/graph.h"
#include "base/demand.h"

namespace ridgeline {

// Samples in one run of the network: the first extent of its first input. 1 if it has none.
std::int64_t batch_extent(const Graph& graph);

// `batch`: batch_extent() of the graph.
KernelTrait kernel_trait(const Graph& graph, const Layer& layer, std::int64_t batch);

}  // namespace ridgeline
