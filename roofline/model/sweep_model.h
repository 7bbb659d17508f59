// One MachineModel for all modes of a board whose profile has GPU rows of several modes: rates per
// SM and clock, bandwidth by memory and by GPU clock, launch cost by CPU clock, and power with its
// voltage curve. What the profile does not determine keeps its prior.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "base/profile.h"

namespace ridgeline {

// Whether any mode has GPU rates to fit.
bool has_gpu_rates(const Profile& profile);

// `prior` is the catalog's model of the device, with priors. Modes that are marked in `left_out`
// (by index; empty = none) are not used.
MachineModel fit_modes(const MachineModel& prior, const Profile& profile,
                       const std::vector<bool>& left_out = {});

// How far modes that were left out of the fit were predicted off, for one quantity.
struct LeftOutError {
  std::string quantity;  // "fp32 peak", "DRAM bandwidth", "launch", "power"
  double mean = 0;       // of |predicted / measured − 1|
  double worst = 0;
  std::size_t predictions = 0;
};

// Every mode is left out once, in up to five groups. Empty with fewer than three modes.
std::vector<LeftOutError> left_out_errors(const MachineModel& prior, const Profile& profile);

}  // namespace ridgeline
