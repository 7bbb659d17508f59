// A measured profile as a MachineModel: the rates of one mode as parameters that predictions start
// from, so that a machine is predicted from its own measurement. Software's efficiency is not in a
// profile: see priors.h.
#pragma once

#include "base/machine_model.h"
#include "base/operating_point.h"
#include "base/profile.h"

namespace ridgeline {

struct ProfiledMachine {
  MachineModel model;
  OperatingPoint point;  // of the mode, with the clock and cores that the rates were measured at
};

// Of CPU rows with `threads` threads (0: the most that were measured): the fastest kernel of each
// unit and type, the fastest direction of memory, caches. An Error where no clock or no rate was
// measured.
ProfiledMachine profiled_machine(const Profile& profile, const ProfileMode& mode, int threads = 0);

}  // namespace ridgeline
