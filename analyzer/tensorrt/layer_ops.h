// What a layer of an engine computes, as Ops: one row per parameter type or layer type. Costs are
// those of analyzer/count; a layer that the file does not describe becomes Unknown.
#pragma once

#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

// With a reason in an Unknown if there is no rule, or the parameters do not fit the tensors.
std::vector<Part> layer_parts(const EngineLayer& layer);

// Weights that the file does not list but that the Ops imply: those of a gemm inside Myelin.
std::vector<StoredWeights> implied_weights(const EngineLayer& layer);

}  // namespace ridgeline::tensorrt
