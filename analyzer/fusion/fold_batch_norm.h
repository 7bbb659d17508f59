// Folds batch normalisation into the preceding convolution or product, as exporters and inference
// runtimes do: scales the weights, puts the shift into the bias, removes the layer. For Graphs of
// every front end. All other fusions are in fusion.h.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

// Folds every batch normalisation (except in training) that is the only reader of a convolution or
// matrix product with constant weights of its own. MACs stay; the parameters become the weights and
// one bias per channel. Unused tensors are dropped, so ids change.
Graph fold_batch_norm(Graph graph);

}  // namespace ridgeline
