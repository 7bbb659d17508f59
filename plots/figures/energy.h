// EnergyRoofline → three plots over one axis of intensities: performance, efficiency, power.
// No drawing: svg_stack.h and terminal_stack.h render the stack.
#pragma once

#include <string>
#include <vector>

#include "plots/stack.h"
#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline {

FigureStack energy_figure(const EnergyRoofline& roofline);

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
