// Simplifications before fusion: removes layers without effect and folds constants.
#pragma once

#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/graph/graph.h"

namespace ridgeline {

// Whether fusion considers a layer: it runs and has outputs.
bool takes_part(const Layer& layer);

// Removes views and casts to the same type; their readers read the original tensor.
Graph remove_views(Graph graph);

// Marks layers that depend on weights alone as computed before the first run, such as a look-up in
// a table of relative positions. Not in training, where weights change, and never products. If
// `applied` is given, records what each saves, by these weights.
void fold_constants(Graph& graph, const OpWeights* weights = nullptr,
                    std::vector<AppliedRule>* applied = nullptr);

// Slices along one axis that cover a tensor, and are all that read it, become one Split, as
// onnxruntime makes it of them. They move the same bytes.
void join_slices(Graph& graph);

}  // namespace ridgeline
