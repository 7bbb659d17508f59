// Layers of a graph in an order in which they can run.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

// As near to their present order as that goes; layers that wait for each other stay as they are.
void put_in_run_order(Graph& graph);

}  // namespace ridgeline
