// The energy counters of x86 packages (RAPL), which the system shows as powercap zones.
// Packages only: their parts (cores, uncore) are inside of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/machine/system_files.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

// Packages as folders below the root: "sys/class/powercap/intel-rapl:0". AMD uses the same names.
std::vector<std::string> rapl_packages(const SystemRoot& root);

// nullptr where there is none or the counters may not be read; `why` then says so.
std::unique_ptr<PowerSensor> open_rapl(const SystemRoot& root, std::string& why);

}  // namespace ridgeline
