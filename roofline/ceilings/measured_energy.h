// Energy per FLOP and byte and constant power of a measured mode, from the power of its sweep rows,
// and the ceilings with them: one roof and the DRAM slope under the sweep. Profiles without power
// have no energy roofline.
#pragma once

#include <string>
#include <vector>

#include "base/ceilings.h"
#include "base/machine.h"
#include "base/profile.h"
#include "roofline/ceilings/roofline.h"
#include "roofline/model/fit_energy.h"

namespace ridgeline {

struct MeasuredEnergy {
  Ceilings ceilings;
  std::vector<Ceilings> draws;  // from the intervals of the rates and the covariance of the fit
  EnergyFit fit;
};

// One row per processor, data type and thread count whose sweep has power. Where the rows cannot
// tell the coefficients apart the row says so and has none.
std::vector<EnergyFitRow> fitted_energy(const ProfileMode& mode, const std::string& sensor);

// Of the data type that the options ask for, else fp32, else the first whose power was measured.
MeasuredEnergy measured_energy(const ProfileMode& mode, const Machine& machine,
                               const RooflineOptions& options);

}  // namespace ridgeline
