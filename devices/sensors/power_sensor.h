// The interface of a power sensor: what it reads, how late and how coarse its readings are, and
// what became of opening it. kernels/power_meter.h turns readings into mean power.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "devices/machine/system_files.h"

namespace ridgeline {

class Nvml;

struct SensorFacts {
  std::string name;   // "INA3221 VDD_IN", "NVML"
  double lag_s = 0;   // by which a reading trails the load, or over which it averages
  double step_w = 0;  // between two neighbouring readings; 0 = finer than matters
};

// At least one of them is present.
struct PowerReading {
  std::optional<double> power_w = {};
  std::optional<double> energy_j = {};  // since some moment in the past, without wrapping
};

// A sensor that stopped responding; the measurement can go on without it.
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

// Where sensors are looked for. Without NVML and without a reason for that, NVML's first GPU is
// taken.
struct SensorPlace {
  SystemRoot root = {};
  std::shared_ptr<Nvml> nvml = {};  // of the GPU that is measured
  std::string no_nvml = {};         // why it cannot be used
};

struct OpenedSensor {
  std::unique_ptr<PowerSensor> sensor = {};  // nullptr where it cannot be read
  std::string why_not = {};                  // short, for a list of reasons
  std::string detail = {};  // what is there, or why it is of no use; empty = why_not says it
  std::string fix = {};     // one line to do; empty where nothing helps
};

}  // namespace ridgeline
