// A measured profile as a MachineModel: the rates of one mode become parameters, so that
// predictions start from the machine's own measurement. A profile has no software efficiencies: see
// priors.h.
#pragma once

#include "base/machine_model.h"
#include "base/operating_point.h"
#include "base/profile.h"

namespace ridgeline {

struct ProfiledMachine {
  MachineModel model;
  OperatingPoint point;  // of the mode, with the clock and cores of the measured rates
};

// From CPU rows with `threads` threads (0: the most measured): the fastest kernel of each unit and
// type, the fastest memory direction, caches. Throws an Error if no clock or no rate was measured.
ProfiledMachine profiled_machine(const Profile& profile, const ProfileMode& mode, int threads = 0);

}  // namespace ridgeline
