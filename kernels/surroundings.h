// Warnings about what surrounded a measurement: other load, a hypervisor, a quota, a governor.
// A pure function of what was seen; looking is load_watch.h's and devices' part.
#pragma once

#include <optional>
#include <string>

#include "base/profile.h"

namespace ridgeline {

// `busiest` names the process that used most CPU time ("" = none stood out); `quota` is the CPU
// time that the process may use, in cores.
void warn_of_surroundings(const std::string& busiest, std::optional<double> quota, int cores,
                          MeasuringConditions& conditions);

}  // namespace ridgeline
