// Build precision: the types that an inference builder gives a graph in a lower precision, as
// trtexec --fp16 and --int8 do. Only types change; quantisation that the graph has stays.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

enum class Rebuilt {
  yes,
  own_quantization,  // an 8-bit graph keeps its types
  nothing_wide       // no tensor is wider than what was asked for
};

// 16-bit: all fp32 tensors and arithmetic. 8-bit: tensors and products; vectors (biases, scales)
// and all other arithmetic stay fp32, as in the built-in networks.
Rebuilt build_in(Graph& graph, DType precision);

// Weights of products stored in 8 or 4 bits with a 16-bit scale for each group of 128, and computed
// in the type of the activations. Embeddings and the head of a language model stay as they are.
void store_weights_in(Graph& graph, DType storage);

// Caches that are kept between runs, stored in another type.
void store_caches_in(Graph& graph, DType storage);

}  // namespace ridgeline
