// Figure → SVG: one self-contained file, 800 px wide, the same bytes for the same figure.
// No fonts, scripts or links to the outside.
#pragma once

#include <string>

#include "plots/figure.h"

namespace ridgeline {

std::string svg(const Figure& figure);

}  // namespace ridgeline
