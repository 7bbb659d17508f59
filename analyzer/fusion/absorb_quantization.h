// Quantisation steps that the layer beside them does on the way: DequantizeLinear → product →
// QuantizeLinear becomes one integer product that reads and writes quantised tensors.
// Products keep their MACs; only dtype and tensors change.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

void absorb_quantization(Graph& graph);

}  // namespace ridgeline
