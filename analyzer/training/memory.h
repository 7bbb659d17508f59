// How much memory a training step holds at once, and what for.
// Tensors live from the layer that makes them to the last that reads them; workspaces of libraries
// and the fragmentation of allocators are not modelled.
#pragma once

#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

// What a tensor of a training step is. The first three stay from step to step.
enum class Holding {
  weight,           // as the passes read it
  master_weight,    // its fp32 copy, with mixed precision
  optimizer_state,  //
  gradient,         // of a parameter
  activation,       // of the forward pass, its inputs included
  transient,        // gradient of an activation
  constant          // follows from sizes: masks, angles, statistics; not counted
};

// Bytes at the moment when a step holds the most.
struct TrainingMemory {
  double weights = 0;
  double master_weights = 0;
  double gradients = 0;
  double optimizer_state = 0;
  double activations = 0;
  double transient = 0;
  // The most activations that the backward pass has before it: at its beginning, or with
  // checkpoints at the beginning of a segment.
  double saved = 0;

  double peak() const {
    return weights + master_weights + gradients + optimizer_state + activations + transient;
  }
};

// `holdings` has an entry per tensor of the step.
TrainingMemory measure_memory(const Graph& step, const std::vector<Holding>& holdings);

}  // namespace ridgeline
