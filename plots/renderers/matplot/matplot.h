// Figure → SVG through the Matplot++ library, where the program was built with it
// (RIDGELINE_MATPLOT). docs/plots.md says how to get it.
#pragma once

#include <string>

#include "plots/figure.h"

namespace ridgeline {

bool has_matplot();  // built with it; gnuplot is looked for when a figure is drawn

// An Error that says what is missing: the library, or gnuplot, which it draws with.
std::string matplot_svg(const Figure& figure);

}  // namespace ridgeline
