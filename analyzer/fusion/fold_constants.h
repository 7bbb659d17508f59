// Constant folding as compilers do it: what depends on weights alone, such as a table of relative
// positions that is looked up, is computed before the first run. Not in training, where weights
// change, and never a product.
#pragma once

#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/graph/graph.h"

namespace ridgeline {

// Whether a layer runs at all: counted, with something to compute.
bool takes_part(const Layer& layer);

// In place. Where `steps` are asked for, with what each saves by these weights.
void fold_constants(Graph& graph, const OpWeights* weights = nullptr,
                    std::vector<FusionStep>* steps = nullptr);

}  // namespace ridgeline
