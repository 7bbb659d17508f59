// What a GPU does beside the kernels that are timed: temperature, clocks, load, power, and what
// holds it down. NVML reports it on cards and sysfs on Jetsons; what neither has is absent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "devices/machine/system_files.h"
#include "devices/sensors/nvml.h"

namespace ridgeline {

struct GpuState {
  std::optional<double> temperature_c, clock_hz, memory_hz, power_w;
  std::optional<double> load;           // share of the last moments in which something ran
  std::optional<int> processes;         // that have this GPU open, this one included
  std::optional<double> over_currents;  // events since the board was switched on
  std::uint64_t held_by = 0;            // NVML's bits; see throttle_text()
};

class GpuWatch {
 public:
  // Without NVML, or where it reports nothing, the files of a Jetson.
  explicit GpuWatch(std::shared_ptr<Nvml> nvml, SystemRoot root = {});

  GpuState read() const;

 private:
  std::shared_ptr<Nvml> nvml_;
  SystemRoot root_;
  // Files of a Jetson, as far as they exist.
  std::string clock_file_, memory_file_, load_file_, temperature_file_;
  std::vector<std::string> over_current_files_;
};

}  // namespace ridgeline
