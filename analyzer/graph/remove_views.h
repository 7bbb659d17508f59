// The network without layers that change nothing: views, and casts to the type that is there
// already.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

// A runtime that compiles does not see them: their readers read what they look at.
Graph without_views(Graph graph);

}  // namespace ridgeline
