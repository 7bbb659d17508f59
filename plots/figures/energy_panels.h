// Energy rooflines of several modes → a row of three small plots per mode.
// One mode in full is plots/figures/energy.h's, the numbers are report/energy_roofline.h's.
#pragma once

#include <string>
#include <vector>

#include "plots/panels.h"
#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline {

// At least one roofline, all of one machine. Each panel has the main roof of its mode, and in grey
// that of the mode with the highest peak.
Panels energy_panels(const std::vector<EnergyRoofline>& rooflines);

}  // namespace ridgeline
