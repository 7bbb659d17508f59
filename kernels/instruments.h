// What is read beside the kernels of a run: a power sensor, throttle reasons of the GPU (NVML), the
// clock of the core that launches. Each may be missing; the run goes on without it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "devices/sensors/gpu_watch.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/sensors.h"
#include "kernels/cpu/core_clock.h"
#include "kernels/cuda/measure.h"
#include "kernels/power_meter.h"
#include "kernels/sampler.h"

namespace ridgeline {

// What a simulated machine has in place of this one's; empty: this machine.
struct InstrumentWorld {
  std::function<void(double seconds)> wait = {};
  std::function<double()> host_clock_hz = {};  // of the core that launches
};

class MeasureInstruments {
 public:
  // Of the CPU.
  explicit MeasureInstruments(const SamplerWorld& world);
  // Of a GPU; `cap_hz` is the clock that the present mode allows.
  MeasureInstruments(const SamplerWorld& world, const cuda::DeviceFacts& facts,
                     std::optional<double> cap_hz, InstrumentWorld around = {});

  PowerMeter* power() { return power_ ? &*power_ : nullptr; }
  cuda::Instruments gpu();

  std::optional<std::string> sensor_name() const;    // none: no power was read
  void note_missing_power(ProfileMode& mode) const;  // a warning that says why, for GPUs

 private:
  void open_sensor(Processor processor, const SamplerWorld& world, const std::string& no_nvml);

  std::optional<double> cap_hz_;
  std::function<double()> now_s_;
  std::shared_ptr<Nvml> nvml_;
  std::optional<GpuWatch> watch_;  // for GPUs
  FoundSensor found_;
  std::optional<PowerMeter> power_;
  InstrumentWorld around_;
  std::optional<cpu::CoreClock> core_clock_;  // for GPUs
};

}  // namespace ridgeline
