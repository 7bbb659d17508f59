// Figure → PNG or PDF through another program: rsvg-convert from the SVG, or else gnuplot.
#pragma once

#include <string>

#include "plots/figure.h"

namespace ridgeline {

// An Error that says what to install where neither program is on PATH.
std::string png(const Figure& figure);
std::string pdf(const Figure& figure);

}  // namespace ridgeline
