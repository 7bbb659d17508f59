// A card's own sensor comes first: it reads the GPU and nothing else. A board without one, every
// Jetson, has rails; a CPU has its packages' counters.
#include "devices/sensors/sensors.h"

#include <array>

#include "devices/machine/identification.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/rails.h"
#include "devices/sensors/rapl.h"

namespace ridgeline {
namespace {

bool is_no_jetson(const SystemRoot& root) { return !is_jetson(root); }

bool has_nvidia_card(const SystemRoot& root) {
  return exists(root, "proc/driver/nvidia/version") && is_no_jetson(root);
}

constexpr auto kinds = std::to_array<SensorKind>({
    {"NVML", "GPU power", false, true, has_nvidia_card, open_nvml_sensor},
    {"rails", "board power", true, true, is_jetson, open_board_sensor},
    {"RAPL", "CPU power", true, false, is_no_jetson, open_rapl},
});

}  // namespace

std::span<const SensorKind> sensor_kinds() { return kinds; }

FoundSensor find_power_sensor(Processor processor, const SensorPlace& place) {
  std::string reasons;
  for (const SensorKind& kind : kinds) {
    if (!(processor == Processor::cpu ? kind.reads_cpu : kind.reads_gpu)) continue;
    OpenedSensor opened = kind.open(place);
    if (opened.sensor) return {std::move(opened.sensor)};
    reasons += (reasons.empty() ? "" : "; ") + std::string(kind.name) + ": " + opened.why_not;
  }
  return {nullptr, reasons};
}

}  // namespace ridgeline
