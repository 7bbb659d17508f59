// The energy counters of x86 packages (RAPL), which the system shows as powercap zones.
// Packages only: their parts (cores, uncore) are inside of them.
#pragma once

#include <string>
#include <vector>

#include "devices/machine/system_files.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

// Packages as folders below the root: "sys/class/powercap/intel-rapl:0". AMD uses the same names.
std::vector<std::string> rapl_packages(const SystemRoot& root);

OpenedSensor open_rapl(const SensorPlace& place);

}  // namespace ridgeline
