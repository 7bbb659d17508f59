// The power rails of a board: INA3221 and INA238 chips as sysfs shows them, in all the places where
// releases of Jetson Linux put them. The catalog states which rails make up the board's power.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/machine/system_files.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

struct Rail {
  std::string label;         // "VDD_GPU_SOC"
  std::string chip;          // "INA3221"
  std::string folder;        // below the root, ends in '/'
  std::string volt, ampere;  // files in mV and mA; empty where the chip itself multiplies
  std::string watt;          // file
  double watt_unit = 0;      // of that file: 1e-6 for µW
  double lag_s = 0;          // that the chip averages over
  double step_w = 0;         // of a reading; 0 = unknown
};

// By chip name and label, never by number: numbers change from boot to boot. Channels that are not
// connected ("NC"), have no label or cannot be read are left out.
std::vector<Rail> find_rails(const SystemRoot& root);

// Present power, with its sign; empty where the rail cannot be read.
std::optional<double> read_w(const SystemRoot& root, const Rail& rail);

// The power of a whole Jetson: the rails that the catalog says make it up, added.
OpenedSensor open_board_sensor(const SensorPlace& place);

}  // namespace ridgeline
