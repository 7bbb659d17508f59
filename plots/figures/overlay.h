// Rooflines of several modes → one plot with a line per mode: the main roof of each and its DRAM
// slope, of time alone or with efficiency and power. Side by side: roofline_panels.h, energy.h.
#pragma once

#include <vector>

#include "plots/figure.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// At least one roofline, all of one machine. Modes that look alike share a line.
Figure roofline_overlay(const std::vector<Roofline>& rooflines);
Figure energy_overlay(const std::vector<EnergyRoofline>& rooflines);

}  // namespace ridgeline
