// NVML opens the GPU at CUDA's place on the bus: it counts GPUs in another order.
#include "kernels/instruments.h"

#include <chrono>
#include <thread>

namespace ridgeline {
namespace {

void wait(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

MeasureInstruments::MeasureInstruments(const SamplerWorld& world) {
  open_sensor(Processor::cpu, world, {});
}

MeasureInstruments::MeasureInstruments(const SamplerWorld& world, const cuda::DeviceFacts& facts,
                                       std::optional<double> cap_hz, InstrumentWorld around)
    : cap_hz_(cap_hz), now_s_(world.now_s), around_(std::move(around)) {
  std::string no_nvml;
  nvml_ = Nvml::open(facts.pci_bus_id, no_nvml);
  watch_.emplace(nvml_);
  open_sensor(Processor::gpu, world, no_nvml);
  if (around_.host_clock_hz) return;
  core_clock_.emplace();
  around_.host_clock_hz = [this] { return core_clock_->read_hz(); };
}

void MeasureInstruments::open_sensor(Processor processor, const SamplerWorld& world,
                                     const std::string& no_nvml) {
  found_ = find_power_sensor(processor, {.nvml = nvml_, .no_nvml = no_nvml});
  if (found_.sensor)
    power_.emplace(
        *found_.sensor,
        PowerMeter::World{world.now_s, around_.wait ? around_.wait : wait, world.interrupted});
}

cuda::Instruments MeasureInstruments::gpu() {
  cuda::Instruments instruments;
  instruments.cap_hz = cap_hz_;
  instruments.power = power();
  instruments.host_clock_hz = around_.host_clock_hz;
  if (watch_)
    instruments.look = [this, read_s = -1.0]() mutable {
      constexpr double pause_s = 0.2;  // a rail takes up to a millisecond to read
      GpuState state = watch_->read();
      const double now_s = now_s_();
      if (state.power_w || !found_.sensor || now_s - read_s < pause_s) return state;
      read_s = now_s;
      try {
        state.power_w = found_.sensor->read().power_w;
      } catch (const SensorError&) {  // the run goes on without it
      }
      return state;
    };
  if (nvml_ && nvml_->throttle_reasons().value)
    instruments.throttle_reasons = [this] { return nvml_->throttle_reasons().value.value_or(0); };
  return instruments;
}

std::optional<std::string> MeasureInstruments::sensor_name() const {
  if (!found_.sensor) return std::nullopt;
  return found_.sensor->facts().name;
}

void MeasureInstruments::note_missing_power(ProfileMode& mode) const {
  if (!found_.sensor && around_.host_clock_hz && !mode.sweep.empty())
    mode.conditions.warnings.push_back({"power was not measured: " + found_.why_not, ""});
}

}  // namespace ridgeline
