// Energy per FLOP and byte and constant power of a measured mode, from the power of its sweep rows.
// Kernels measure and roofline/ fits; neither knows the other.
#pragma once

#include <string>
#include <vector>

#include "base/profile.h"

namespace ridgeline {

// One row per processor, data type and thread count whose sweep has power. Where the rows cannot
// tell the coefficients apart the row says so and has none.
std::vector<EnergyFitRow> fitted_energy(const ProfileMode& mode, const std::string& sensor);

}  // namespace ridgeline
