// The power of a whole board: the rails that the catalog says make it up, added.
// Single rails are rails.h's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/catalog/catalog.h"
#include "devices/machine/system_files.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

// nullptr where rails are missing; `why` then says which.
std::unique_ptr<PowerSensor> open_board_sensor(const SystemRoot& root,
                                               const std::vector<catalog::Rail>& known,
                                               std::string& why);

}  // namespace ridgeline
