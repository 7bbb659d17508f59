// What a compiler does with a network before it fuses layers: those that change nothing vanish, and
// constants are folded.
#pragma once

#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/graph/graph.h"

namespace ridgeline {

// Whether fusion looks at a layer: it runs, and makes something.
bool takes_part(const Layer& layer);

// The network without views and casts to the type that is there already: their readers read what
// they look at.
Graph remove_views(Graph graph);

// What depends on weights alone, such as a table of relative positions that is looked up, is
// computed before the first run. Not in training, where weights change, and never a product. Where
// `applied` is given, with what each saves by these weights.
void fold_constants(Graph& graph, const OpWeights* weights = nullptr,
                    std::vector<AppliedRule>* applied = nullptr);

}  // namespace ridgeline
