// Peak memory of a training step, by purpose. Tensors live from the layer that writes them to their
// last reader. Library workspaces and allocator fragmentation are not modelled.
#pragma once

#include <vector>

#include "analyzer/graph/graph.h"

namespace ridgeline {

// Purpose of a tensor in a training step. The first three persist between steps.
enum class Holding {
  weight,         // as the passes read it
  master_weight,  // its fp32 copy, with mixed precision
  optimizer_state,
  gradient,    // of a parameter
  activation,  // of the forward pass, including its inputs
  transient,   // gradient of an activation
  constant     // follows from sizes: masks, angles, statistics; not counted
};

// Bytes at the peak of a step.
struct TrainingMemory {
  double weights = 0;
  double master_weights = 0;
  double gradients = 0;
  double optimizer_state = 0;
  double activations = 0;
  double transient = 0;
  // The most activations held outside the forward pass: at the start of the backward pass, or with
  // checkpoints at the start of a segment.
  double saved = 0;

  double peak() const {
    return weights + master_weights + gradients + optimizer_state + activations + transient;
  }
};

// `holdings` has one entry per tensor of the step.
TrainingMemory measure_memory(const Graph& step, const std::vector<Holding>& holdings);

}  // namespace ridgeline
