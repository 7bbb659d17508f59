// The operators of torch behind the nodes of an exported file: an exporter writes several nodes for
// one call (a linear layer with bias, GELU, SiLU, scaled dot-product attention), and a copy for
// what is a view in torch. For runtimes of torch only; networks by name are described in its
// operators already.
#pragma once

#include <vector>

#include "analyzer/fusion/rules.h"
#include "analyzer/graph/graph.h"

namespace ridgeline {

bool runs_torch(Runtime runtime);

// Which nodes are one call; each call is one layer afterwards.
const std::vector<FusionRule>& torch_operator_rules();

// Transpositions, slices, splits and expansions become views, except before a reshape that needs
// their elements in order. A compiler keeps all but transpositions.
void restore_views(Graph& graph, Runtime runtime);

}  // namespace ridgeline
