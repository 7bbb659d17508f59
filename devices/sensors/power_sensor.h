// A power sensor as everybody sees it: what it reads, how late and how coarse its readings are.
// What to make of several readings is kernels/power_meter.h's part.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace ridgeline {

struct SensorFacts {
  std::string name;   // "INA3221 VDD_IN", "NVML"
  double lag_s = 0;   // by which a reading trails the load, or over which it averages
  double step_w = 0;  // between two neighbouring readings; 0 = finer than matters
};

// A sensor has one of them at least.
struct PowerReading {
  std::optional<double> power_w = {};
  std::optional<double> energy_j = {};  // since some moment in the past, without wrapping
};

// A sensor that answers no more; what runs beside it can go on.
class SensorError : public Error {
 public:
  using Error::Error;
};

class PowerSensor {
 public:
  virtual ~PowerSensor() = default;
  virtual const SensorFacts& facts() const = 0;
  virtual PowerReading read() = 0;  // or a SensorError
};

}  // namespace ridgeline
