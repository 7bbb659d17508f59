// What the system shows of a machine while something is measured on it: temperatures, fan, clocks,
// throttling. Files only, and nothing is set.
#pragma once

#include <cstdint>
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

// Whether the kernel has cut the power of the GPU; nothing where the system does not say.
std::optional<bool> is_gpu_suspended(const World& world, const Knobs& knobs);

// Whether the GPU's clock cannot move.
bool is_gpu_clock_held(const World& world, const Knobs& knobs);

class MachineWatch {
 public:
  MachineWatch(const World& world, const Knobs& knobs);

  // Reads temperatures, fan and clocks once more; call it while the machine is busy.
  void look();

  // What slowed the machine down since the construction, as warnings; empty if nothing did.
  std::vector<Warning> finish();

  // All that was seen, after finish().
  const SystemConditions& seen() const { return seen_; }

 private:
  KnobCondition& knob(const std::string& name);
  void see(const std::string& name, std::optional<double> value);

  const World& world_;
  Knobs knobs_;
  std::map<std::string, double> events_;  // counters of over-current, by name
  std::uint64_t hot_looks_ = 0, fallen_looks_ = 0;
  SystemConditions seen_;
};

}  // namespace ridgeline::control
