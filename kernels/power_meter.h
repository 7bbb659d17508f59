// Mean power while something runs, from a sensor that may be late and coarse: what comes before the
// readings have settled is left out, and the rest is long. Shared by all backends.
#pragma once

#include <functional>
#include <optional>

#include "base/estimate.h"
#include "devices/sensors/power_sensor.h"

namespace ridgeline {

class PowerMeter {
 public:
  // The outside world: a monotonic clock, a way to let time pass, Ctrl-C.
  struct World {
    std::function<double()> now_s;
    std::function<void(double seconds)> wait;
    std::function<bool()> interrupted;
  };
  PowerMeter(PowerSensor& sensor, World world);

  const SensorFacts& facts() const { return sensor_.facts(); }

  // After a change of load, until the readings no longer depend on what was before.
  double settle_s() const;

  // Works for some tens of milliseconds, calls `look` once meanwhile, and says how much it did.
  using Burst = std::function<double(const std::function<void()>& look)>;
  struct Metered {
    Estimate power_w;       // while the bursts ran
    double work_per_s = 0;  // in the same time
  };
  // Bursts for settle_s() and then `count_s`; nothing after an interruption. Errors of the sensor
  // (SensorError) and of the burst pass through. With `idle_w`, the power of the machine between
  // bursts, the bursts have pauses that grow and shrink once in `count_s`: a load that moves over
  // a sensor's steps can be read between them. The pauses' power is taken out again. Only where
  // clocks are held: a governor would lower them in the pauses.
  std::optional<Metered> measure(const Burst& burst, double count_s,
                                 std::optional<double> idle_w = std::nullopt);

  // The same while nothing runs.
  std::optional<Estimate> measure_idle(double count_s);

 private:
  PowerSensor& sensor_;
  World world_;
};

// How long each of `points` is counted where it may take `point_s`, and all together `most_s`,
// settling included; nothing where that is too short to mean anything.
std::optional<double> count_seconds(double settle_s, int points, double point_s, double most_s);

}  // namespace ridgeline
