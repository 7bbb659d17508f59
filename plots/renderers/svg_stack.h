// FigureStack → SVG: frames of equal width one below the other, 800 px wide, the same bytes for the
// same value. The x axis is labelled once, at the bottom.
#pragma once

#include <string>

#include "plots/stack.h"

namespace ridgeline {

std::string svg(const FigureStack& stack);

}  // namespace ridgeline
