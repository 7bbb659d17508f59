// Energy per FLOP and byte and constant power of a measured mode, fitted to the power of its sweep
// rows, and the ceilings that use them: one roof and the DRAM slope under the sweep. Profiles
// without power have no energy roofline.
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

// One row per processor, data type and thread count whose sweep has power. If the sweep cannot
// separate the coefficients, the row has none and its note gives the reason.
std::vector<EnergyFitRow> fitted_energy(const ProfileMode& mode, const std::string& sensor);

// Energy per byte of each mode of a sweep whose own rows hardly show it (its interval is wider than
// a quarter on either side) is fitted anew with what other modes of the same memory clock say.
void share_byte_energies(std::vector<ProfileMode>& modes);

// For the data type in the options, else fp32, else the first one with measured power; `sweep` is
// all modes of the profile, as above.
MeasuredEnergy measured_energy(const ProfileMode& mode, const Machine& machine,
                               const RooflineOptions& options,
                               const std::vector<ProfileMode>& sweep = {});

}  // namespace ridgeline
