// Peak memory of a training step or an inference, by purpose. Tensors live from the layer that
// writes them to their last reader. Library workspaces and allocator fragmentation are not
// modelled.
#pragma once

#include <vector>

#include "analyzer/graph/graph.h"
#include "base/run_memory.h"

namespace ridgeline {

// Purpose of a tensor in a run. The first three persist between runs.
enum class Holding {
  weight,         // as the passes read it
  master_weight,  // its fp32 copy, with mixed precision
  optimizer_state,
  gradient,    // of a parameter
  activation,  // of the forward pass, including its inputs
  transient,   // gradient of an activation
  interface,   // input or output of an inference: the caller holds it
  cache,       // the same, kept for the next run
  constant     // follows from sizes: masks, angles, statistics; not counted
};

// `holdings` has one entry per tensor of the step.
RunMemory measure_memory(const Graph& step, const std::vector<Holding>& holdings);

// Of one inference. With the graph that fuse() made for a runtime, tensors inside its kernels take
// no memory.
RunMemory inference_memory(const Graph& graph);

}  // namespace ridgeline
