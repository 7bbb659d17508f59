// Paths differ between JetPack 4, 5, 6 and 7: each is looked for once, and only files that exist
// are read. A Jetson's NVML initialises and supports almost nothing, so that each value is asked
// for by itself.
#include "devices/sensors/gpu_watch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "devices/machine/clock_files.h"

namespace ridgeline {
namespace {

std::string first_that_exists(const SystemRoot& root, std::initializer_list<std::string> paths) {
  for (const std::string& path : paths)
    if (may_read(root, path)) return path;
  return {};
}

// "GPU-therm" of JetPack 4 and 5, "gpu-thermal" of 6 and 7.
std::string gpu_thermal_zone(const SystemRoot& root) {
  const std::string folder = "sys/class/thermal/";
  for (const std::string& name : names_in(root, folder)) {
    if (!name.starts_with("thermal_zone")) continue;
    const auto type = first_line(root, folder + name + "/type");
    if (type && lower(*type).starts_with("gpu")) return folder + name + "/temp";
  }
  return {};
}

// Cumulative counters of under-voltage, average and instantaneous over-current.
std::vector<std::string> over_current_counters(const SystemRoot& root) {
  const std::string folder = "sys/class/hwmon/";
  std::vector<std::string> files;
  for (const std::string& name : names_in(root, folder)) {
    if (first_line(root, folder + name + "/name") != "soctherm_oc") continue;
    for (const char* counter : {"oc1_event_cnt", "oc2_event_cnt", "oc3_event_cnt"})
      if (const std::string file = folder + name + "/" + counter; may_read(root, file))
        files.push_back(file);
  }
  return files;
}

template <class T>
void take(std::optional<T>& value, const NvmlAnswer<T>& answer) {
  if (answer.value) value = answer.value;
}

}  // namespace

GpuWatch::GpuWatch(std::shared_ptr<Nvml> nvml, SystemRoot root)
    : nvml_(std::move(nvml)), root_(std::move(root)) {
  const auto devfreq = gpu_clock_folder(root_);
  if (!devfreq) return;  // not a Jetson
  clock_file_ = *devfreq + "cur_freq";
  memory_file_ = first_that_exists(
      root_, {"sys/class/devfreq/bwmgr/cur_freq", "sys/kernel/debug/bpmp/debug/clk/emc/rate",
              "sys/kernel/debug/clk/override.emc/clk_rate"});
  load_file_ =
      first_that_exists(root_, {"sys/devices/platform/gpu.0/load", "sys/devices/gpu.0/load"});
  temperature_file_ = gpu_thermal_zone(root_);
  over_current_files_ = over_current_counters(root_);
}

GpuState GpuWatch::read() const {
  GpuState state;
  const auto from = [&](const std::string& file, double unit,
                        double most) -> std::optional<double> {
    if (file.empty()) return std::nullopt;
    const auto value = number(root_, file);
    if (!value || *value < 0 || *value * unit > most) return std::nullopt;
    return *value * unit;
  };
  state.clock_hz = from(clock_file_, 1, 1e10);
  state.memory_hz = from(memory_file_, 1, 1e11);
  state.load = from(load_file_, 1e-3, 1);
  state.temperature_c = from(temperature_file_, 1e-3, 200);
  for (const std::string& file : over_current_files_)
    if (const auto events = number(root_, file); events && *events >= 0)
      state.over_currents = state.over_currents.value_or(0) + *events;
  if (!nvml_) return state;
  take(state.clock_hz, nvml_->sm_clock_hz());
  take(state.memory_hz, nvml_->memory_clock_hz());
  take(state.temperature_c, nvml_->temperature_c());
  take(state.power_w, nvml_->power_w());
  take(state.load, nvml_->load());
  take(state.processes, nvml_->processes());
  state.held_by = nvml_->throttle_reasons().value.value_or(0);
  return state;
}

}  // namespace ridgeline
