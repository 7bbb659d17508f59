// What the system shows of a machine while something is measured on it: temperatures, fan, clocks,
// throttling. Files only, and nothing is set.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/profile.h"
#include "devices/control/knobs.h"

namespace ridgeline::control {

// The hottest zone in degrees Celsius; nothing where no zone can be read.
std::optional<double> hottest_zone_c(const SystemRoot& root);

// The lowest temperature at which the kernel starts to slow the machine down.
std::optional<double> passive_trip_c(const SystemRoot& root);

// The clocks that the system shows now; cores are those online.
OperatingPoint present_clocks(const World& world, const Knobs& knobs);

class MachineWatch {
 public:
  MachineWatch(const World& world, const Knobs& knobs);

  // Reads temperatures and clocks once more; call it while the machine is busy.
  void look();

  // What slowed the machine down since the construction, as warnings; empty if nothing did.
  std::vector<Warning> finish();

 private:
  const World& world_;
  Knobs knobs_;
  std::map<std::string, double> events_;  // counters of over-current, by name
  std::optional<double> trip_c_, coolest_c_, hottest_c_, lowest_gpu_hz_;
};

}  // namespace ridgeline::control
