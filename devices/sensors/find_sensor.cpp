// A card's own sensor comes first: it reads the GPU and nothing else. A board without one, every
// Jetson, has rails; a CPU has its packages' counters.
#include "devices/sensors/find_sensor.h"

#include "devices/machine/identification.h"
#include "devices/sensors/board_sensor.h"
#include "devices/sensors/rapl.h"

namespace ridgeline {
namespace {

struct Places {
  const SystemRoot& root;
  std::shared_ptr<Nvml> nvml;
  const std::string& no_nvml;
};

using Open = std::unique_ptr<PowerSensor> (*)(const Places& places, std::string& why);

std::unique_ptr<PowerSensor> nvml_sensor(const Places& places, std::string& why) {
  why = places.no_nvml;
  return open_nvml_sensor(places.nvml, why);
}

std::unique_ptr<PowerSensor> board_sensor(const Places& places, std::string& why) {
  const Identity identity = identify(places.root);
  if (identity.chip.empty()) {
    why = "this machine is no Jetson";
    return nullptr;
  }
  return open_board_sensor(places.root, this_device(identity, places.root).rails, why);
}

std::unique_ptr<PowerSensor> package_sensor(const Places& places, std::string& why) {
  return open_rapl(places.root, why);
}

struct Row {
  Processor processor;
  const char* name;
  Open open;
};

constexpr Row rows[] = {
    {Processor::gpu, "NVML", nvml_sensor},
    {Processor::gpu, "rails", board_sensor},
    {Processor::cpu, "rails", board_sensor},
    {Processor::cpu, "RAPL", package_sensor},
};

}  // namespace

FoundSensor find_power_sensor(Processor processor, const SystemRoot& root,
                              std::shared_ptr<Nvml> nvml, const std::string& no_nvml) {
  const Places places{root, std::move(nvml), no_nvml};
  FoundSensor found;
  for (const Row& row : rows) {
    if (row.processor != processor) continue;
    std::string why;
    found.sensor = row.open(places, why);
    if (found.sensor) return {std::move(found.sensor), {}};
    found.why_not += (found.why_not.empty() ? "" : "; ") + std::string(row.name) + ": " + why;
  }
  return found;
}

}  // namespace ridgeline
