// Explanation → Figures of bars: the time of each layer, the longest on top, and how the energy of
// one run builds up. Layers on the roofline: layers.h.
#pragma once

#include "plots/figure.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {

// Layers that differ in numbers of their names alone share a bar; overheads have their own.
Figure layer_times_figure(const Explanation& explanation);

// Needs power: an Error where the model knows none.
Figure energy_build_up_figure(const Explanation& explanation);

}  // namespace ridgeline
