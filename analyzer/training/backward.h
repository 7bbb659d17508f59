// The backward pass of a training step: who contributes to which gradient, and what it reads.
// What each Op's gradient computes is in gradients.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyzer/training/step_graph.h"

namespace ridgeline {

struct BackwardPass {
  std::vector<std::pair<TensorId, TensorId>> learned;  // parameters and their gradients
  std::vector<std::string> without_gradient;           // layers whose Op has no gradient rule
};

// Adds the layers of the pass. With checkpoints, activations of all but the last of √n segments are
// computed again.
BackwardPass add_backward_pass(TrainingStep& step, bool checkpoint);

}  // namespace ridgeline
