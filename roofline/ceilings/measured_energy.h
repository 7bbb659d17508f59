// Ceilings with energy from a profile whose sweep has power: one roof, the DRAM slope under the
// sweep, and what fit_energy makes of the rows. Profiles without power have no energy roofline.
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

// Whether a row can take part in a fit.
bool has_power(const SweepRow& row);

// Rows of one processor, data type and thread count, all with power; `where` is for messages.
EnergyFit fit_sweep(const std::vector<SweepRow>& rows, const std::string& where);

// Of the data type that the options ask for, else fp32, else the first whose power was measured.
MeasuredEnergy measured_energy(const ProfileMode& mode, const Machine& machine,
                               const RooflineOptions& options);

}  // namespace ridgeline
