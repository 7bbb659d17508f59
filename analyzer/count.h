// Counting: the Work of a layer, from its Ops and the tensors around them. The rules
// exist here once, for every front end; docs/counting.md states them.
// Amounts only: what a machine makes of them is the model's.
#pragma once

#include "analyzer/graph.h"
#include "analyzer/op_weights.h"
#include "base/demand.h"
#include "base/work.h"

namespace ridgeline {

// The part's arithmetic; no bytes.
Work count_part(const Part& part, const OpWeights& weights);

// Work of one trip × repeats. A layer that is folded or absorbed has none; an alternative has its
// own (the caller keeps it out of totals).
Work count_layer(const Graph& graph, const Layer& layer, const OpWeights& weights);

OpClass op_class(const Op& op);

// What could run the part's arithmetic: a matrix unit, or a vector unit only.
Unit unit_of(const Op& op);

}  // namespace ridgeline
