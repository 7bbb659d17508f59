// Figure → gnuplot script (5.2 or newer) with its data inside: `gnuplot figure.gp > figure.svg`.
// Places, ticks and labels are those of the SVG page, so the script draws the same picture.
#pragma once

#include <string>
#include <string_view>

#include "plots/figure.h"

namespace ridgeline {

// A name in one line that gnuplot can write into an SVG; not yet quoted.
std::string gnuplot_text(std::string_view text);

std::string gnuplot_script(const Figure& figure);

}  // namespace ridgeline
