// Rooflines of several modes → small multiples with shared axes.
// One mode in full: plots/figures/roofline.h.
#pragma once

#include <string>
#include <vector>

#include "plots/figure.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {

// At least one roofline, all of one machine. Each panel has the fastest roof of each data type.
Figure roofline_panels(const std::vector<Roofline>& rooflines);

// What is compared between modes. The fastest chosen roof of each data type, fastest first; FP64
// only where it is the main one, since it lies decades below the others.
std::vector<const Roof*> compared_roofs(const Roofline& roofline);
// The fastest chosen slope of DRAM, and the main one; null where there is none.
const Slope* dram_peak(const Roofline& roofline);
const Slope* main_slope(const Roofline& roofline);
double main_rate(const Roofline& roofline);  // of the main roof, in FLOP/s; 0 without one

std::string short_rate(double rate);  // "42.6 T": without its unit

}  // namespace ridgeline
