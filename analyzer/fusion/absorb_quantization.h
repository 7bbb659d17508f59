// Absorbs quantisation steps into the layer between them: DequantizeLinear → product →
// QuantizeLinear becomes one integer product on quantised tensors. MACs stay the same; only dtype
// and tensors change.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

void absorb_quantization(Graph& graph);

}  // namespace ridgeline
