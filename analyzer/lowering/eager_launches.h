// How many kernels PyTorch's eager mode launches for a layer: what it has no kernel for is several.
#pragma once

#include "analyzer/graph/graph.h"

namespace ridgeline {

int eager_launches(const Layer& layer);

}  // namespace ridgeline
