// Which sensor tells the power of a processor here, and why there is none where there is none.
// One row per kind of sensor, tried in order.
#pragma once

#include <memory>
#include <string>

#include "base/tokens.h"
#include "devices/machine/system_files.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

struct FoundSensor {
  std::unique_ptr<PowerSensor> sensor;  // nullptr where there is none
  std::string why_not = {};             // every sensor's reason
};

// `nvml` may be nullptr: for CPUs, and where NVML cannot be asked (`no_nvml` says why).
FoundSensor find_power_sensor(Processor processor, const SystemRoot& root,
                              std::shared_ptr<Nvml> nvml, const std::string& no_nvml = {});

}  // namespace ridgeline
