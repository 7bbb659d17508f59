// Panels → SVG: a grid of small plots, 800 px wide, the same bytes for the same value.
// Ticks stand at the left and below only: the axes are shared.
#pragma once

#include <string>

#include "plots/panels.h"

namespace ridgeline {

std::string svg(const Panels& panels);

}  // namespace ridgeline
