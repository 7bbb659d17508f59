// The layers or kernels of an analysis as a graph for Graphviz: who reads what, with types, sizes
// and times. A picture of the structure; numbers belong to the tables.
#pragma once

#include <string>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

// The DOT language: `dot -Tsvg` draws it. Rows without work are left out, unless `all`.
std::string network_dot(const Analysis& analysis, bool all);

}  // namespace ridgeline
