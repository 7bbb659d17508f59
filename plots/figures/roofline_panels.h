// Rooflines of several modes → small multiples with shared axes, and one table of their numbers.
// One mode in full is plots/figures/roofline.h's.
#pragma once

#include <string>
#include <vector>

#include "plots/panels.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// At least one roofline, all of one machine. Each panel has the fastest roof of each data type.
Panels roofline_panels(const std::vector<Roofline>& rooflines);

// One row per mode: units, clocks, roofs by data type, bandwidths, main ridge.
std::string roofline_modes_table(const std::vector<Roofline>& rooflines, int width);

}  // namespace ridgeline
