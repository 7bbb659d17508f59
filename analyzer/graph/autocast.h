// Autocast: the types of a network under PyTorch's automatic mixed precision (torch.autocast).
// Parameters and the image stay fp32; products run in 16 bits, normalisations and softmax in fp32,
// and what lies between takes the widest type that it reads. A layer that needs another type reads
// the result of a cast, which is a kernel of its own in eager mode.
#pragma once

#include "analyzer/graph/graph.h"
#include "base/tokens.h"

namespace ridgeline {

// `narrow`: fp16 or bf16. The graph is a forward pass in fp32.
void autocast(Graph& graph, DType narrow);

// Casts the fp32 operands of 16-bit products, each weight once, and their fp32 results, such as
// gradients of weights. autocast() does this, too.
void cast_operands(Graph& graph);

// Products read the parameters themselves again: a gradient belongs to the parameter, not to its
// cast. Returns whether there was a cast.
bool read_parameters_uncast(Graph& graph);

}  // namespace ridgeline
