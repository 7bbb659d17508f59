// Folding of batch normalisation into the convolution or product before it, as exporters and
// inference runtimes do: weights are scaled, a bias takes the shift, the layer is gone.
// A pass on Graphs of every front end; other fusions keep their layers and are not made here.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

// Folds every batch normalisation (not of training) that alone reads what a convolution or a
// product of matrices with weights of its own makes. MACs stay; parameters become the weights and
// one bias per channel. Tensors that are no longer used are dropped; ids change.
Graph fold_batch_norm(Graph graph);

}  // namespace ridgeline
