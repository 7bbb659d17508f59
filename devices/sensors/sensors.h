// The list of power sensors, one row per kind. A new kind is a file with a function that opens it,
// and a row here: finding a sensor to measure with and the summary of this machine use the rows.
#pragma once

#include <span>
#include <string>

#include "base/tokens.h"
#include "devices/machine/system_files.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

struct SensorKind {
  const char* name;      // "RAPL", as reasons name it
  const char* quantity;  // "CPU power", as the summary names it
  bool reads_cpu, reads_gpu;
  bool (*is_expected)(const SystemRoot& root);  // machines like this one have it
  OpenedSensor (*open)(const SensorPlace& place);
};

// In the order in which they are tried.
std::span<const SensorKind> sensor_kinds();

struct FoundSensor {
  std::unique_ptr<PowerSensor> sensor;  // nullptr where there is none
  std::string why_not = {};             // every kind's reason
};

// The first sensor that reads the power of a processor.
FoundSensor find_power_sensor(Processor processor, const SensorPlace& place);

}  // namespace ridgeline
