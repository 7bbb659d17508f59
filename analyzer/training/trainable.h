// Which parameters of a network learn, and of which activations that wants a gradient.
#pragma once

#include <string>

#include "analyzer/training/step_graph.h"

namespace ridgeline {

// Layers up to `freeze_until` do not learn; an empty name freezes none. Normalisations that do
// learn take the statistics of the batch. Throws Error where nothing can learn: integer weights
// only, everything frozen, no such layer.
void choose_learning(TrainingStep& step, const std::string& freeze_until);

}  // namespace ridgeline
