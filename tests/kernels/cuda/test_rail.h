// A power rail of a TestGpu: late and quantised, like the INA3221 of a Jetson,
// or a counter of joules.
#pragma once

#include "devices/sensors/power_sensor.h"
#include "tests/kernels/cuda/test_gpu.h"

namespace ridgeline::testing {

struct TestRailSettings {
  enum class Lag { first_order, delay };
  Lag lag = Lag::first_order;
  double lag_s = 0.43;
  double step_w = 0.4;
  bool counter = false;
  double fails_after_s = 0;  // stops responding; 0 = never
};

class TestRail final : public PowerSensor {
 public:
  TestRail(const TestGpu& gpu, TestRailSettings settings);
  const SensorFacts& facts() const override { return facts_; }
  PowerReading read() override;

 private:
  double follow(double until_s);          // a first-order lag
  double energy_j(double until_s) const;  // since the start
  double power_w(double at_s) const;

  const TestGpu& gpu_;
  TestRailSettings settings_;
  SensorFacts facts_;
  double reading_w_, at_s_ = 0;
  std::size_t next_ = 0;  // first kernel whose end the lag has not reached
};

}  // namespace ridgeline::testing
