// EnergyRoofline → Figure of three plots over one axis of intensities: performance, efficiency,
// power; of several modes, a row of three small ones per mode. No drawing: see plots/renderers.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline {

Figure energy_figure(const EnergyRoofline& roofline);

// At least one roofline, all of one machine. Each panel has the main roof of its mode, and in grey
// that of the mode with the highest peak.
Figure energy_panels(const std::vector<EnergyRoofline>& rooflines);

// A line of the picture: roofs of equal terms share one. The main roof comes last, to lie on top.
struct EnergyLine {
  std::string name;  // "FP16, BF16 tensor cores"
  const EnergyRoof* roof = nullptr;
  bool is_main = false;
};
// The fastest roof of each data type; FP64 only where it is the main one, since it lies decades
// below the others.
std::vector<EnergyLine> energy_lines(const EnergyRoofline& roofline);

// What each number is and where it comes from, in one sentence.
std::string energy_sources(const EnergyRoofline& roofline);

}  // namespace ridgeline
