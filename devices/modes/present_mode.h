// The power mode that the machine is in right now, as far as an ordinary user may read it.
// It is only looked at here, never set.
#pragma once

#include "base/operating_point.h"
#include "devices/machine/system_files.h"

namespace ridgeline {

// Clocks are the upper limits in force: what the machine may reach in this mode.
OperatingPoint present_mode(const SystemRoot& root);

}  // namespace ridgeline
