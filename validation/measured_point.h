// The operating point of a measured row: what it states, and the catalog's word for the rest.
// Also the judgement whether a stated clock can be meant in the unit of its column.
#pragma once

#include <optional>
#include <string>

#include "base/operating_point.h"
#include "devices/catalog/catalog.h"

namespace ridgeline {

// As the row states it; clocks in Hz.
struct StatedPoint {
  std::string label;
  std::optional<int> gpu_units, cpu_cores;
  std::optional<double> gpu_hz, memory_hz, cpu_hz;
};

// The device with the configuration that its rows are read by.
class MeasuredDevice {
 public:
  explicit MeasuredDevice(catalog::Device device);

  const catalog::Device& device() const { return device_; }

  // "1000 times the device's 1300.5 MHz: kHz?" where a clock is off by a unit; empty if not.
  std::string wrong_unit(const StatedPoint& stated) const;
  // Why the device cannot run there: "gpu_mhz 1500 is above the device's 1300.5"; empty if it can.
  std::string out_of_range(const StatedPoint& stated) const;
  // The full vector. `locked`: the clocks were read back, so no cap of power acts beside them.
  OperatingPoint point(const StatedPoint& stated, bool locked) const;

 private:
  OperatingPoint unstated(const std::string& label) const;

  catalog::Device device_;
  OperatingPoint ceilings_;  // every knob at its ceiling
};

}  // namespace ridgeline
