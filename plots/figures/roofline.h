// Roofline → Figure: which lines, marks, zones and labels a roofline picture has.
// No drawing: that is done in plots/renderers.
#pragma once

#include <set>
#include <string>

#include "plots/figure.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {

Figure roofline_figure(const Roofline& roofline);

// Colour says the data type, dashes say the unit: in every picture of roofs.
Ink ink_of(DType dtype);
Dash dash_of(Unit unit);

// "361 GFLOP/s", and "± 4 %" behind it where the interval is wider than ± 2 %.
std::string ceiling_text(const Roof& roof);
std::string ceiling_text(const Slope& slope);

// "measured on a disturbed machine: other processes took 38 % of the CPU"; empty if it was quiet.
std::string stamp_text(const Roofline& roofline);
std::string stamp_text(const EnergyRoofline& roofline);

// "measured, datasheet".
std::string sources_text(const std::set<Source>& sources);

// "as found, cpu 2.8 GHz, 4 cores".
std::string mode_text(const OperatingPoint& mode);

// "8 SM, 612 MHz, memory 3.20 GHz".
std::string clocks_text(const OperatingPoint& point);

}  // namespace ridgeline
