// Every power channel that this machine shows, read together: the rails of a Jetson, a card's own
// sensor, the packages of a CPU. power_sensor.h has the one sensor that a measurement needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/sensors/power_record.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

class PowerChannels {
 public:
  virtual ~PowerChannels() = default;
  virtual const std::string& source() const = 0;  // "INA3221 rails"
  virtual const std::vector<PowerChannel>& channels() const = 0;
  // The power of each channel in watt; NaN where it cannot be read this time.
  virtual void read_w(double now_s, std::vector<double>& power_w) = 0;
  // Joules that each channel has counted since the start; empty where it does not count.
  virtual std::vector<std::optional<double>> counted_j() { return {}; }
};

struct OpenedChannels {
  std::unique_ptr<PowerChannels> channels;  // nullptr where there are none
  std::string why_not;  // "rails: not a Jetson; RAPL: no RAPL energy counters here; …"
  std::string fix;
  std::vector<std::string> notes;
};

// Rails first, then the card and the packages of the CPU together.
OpenedChannels open_power_channels(const SensorPlace& place);

}  // namespace ridgeline
