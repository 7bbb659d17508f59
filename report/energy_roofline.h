// EnergyRoofline → text for people: what a FLOP, a byte and a second cost, where the bounds change,
// and what follows. The picture is in plots/; full numbers are in JSON and CSV.
#pragma once

#include <string>
#include <vector>

#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline {

// "NVIDIA Jetson …; mode: 30W, …; predicted time and energy", wrapped.
std::string energy_heading(const EnergyRoofline& roofline, int width);

// The main roof with intervals and sources, the other roofs beside it, and what follows. At most
// `width` columns.
std::string energy_tables(const EnergyRoofline& roofline, int width);

// One row per mode, of the main roof.
std::string energy_modes_table(const std::vector<EnergyRoofline>& rooflines, int width);

}  // namespace ridgeline
