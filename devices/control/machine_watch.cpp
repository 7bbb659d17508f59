// Over-current counters are cumulative since boot: OC1 is under-voltage, OC2 the mean and OC3 the
// momentary current. Zones that are switched off read −256 °C or fail, and are left out.
#include "devices/control/machine_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "devices/modes/clock_table.h"

namespace ridgeline::control {
namespace {

constexpr const char* thermal_folder = "sys/class/thermal/";
constexpr double fallen_share = 0.97;  // of a held clock

std::map<std::string, double> over_current_events(const SystemRoot& root) {
  std::map<std::string, double> events;
  for (const std::string& name : names_in(root, "sys/class/hwmon")) {
    const std::string folder = "sys/class/hwmon/" + name + '/';
    if (first_line(root, folder + "name").value_or("") != "soctherm_oc") continue;
    for (const char* counter : {"oc1", "oc2", "oc3"})
      if (const auto count = number(root, folder + counter + "_event_cnt"))
        events[counter] += *count;
  }
  return events;
}

}  // namespace

std::optional<double> hottest_zone_c(const SystemRoot& root) {
  std::optional<double> hottest;
  for (const std::string& name : names_in(root, thermal_folder)) {
    if (!name.starts_with("thermal_zone")) continue;
    const auto millidegree = number(root, thermal_folder + name + "/temp");
    constexpr double lowest_c = -40, highest_c = 150;
    if (!millidegree || *millidegree < 1e3 * lowest_c || *millidegree > 1e3 * highest_c) continue;
    hottest = std::max(hottest.value_or(lowest_c), 1e-3 * *millidegree);
  }
  return hottest;
}

std::optional<double> passive_trip_c(const SystemRoot& root) {
  std::optional<double> lowest;
  for (const std::string& name : names_in(root, thermal_folder)) {
    if (!name.starts_with("thermal_zone")) continue;
    const std::string folder = thermal_folder + name + '/';
    for (int trip = 0; trip < 12; ++trip) {
      const std::string stem = fmt::format("{}trip_point_{}_", folder, trip);
      if (trimmed(first_line(root, stem + "type").value_or("")) != "passive") continue;
      const auto millidegree = number(root, stem + "temp");
      if (millidegree && *millidegree > 30e3)
        lowest = std::min(lowest.value_or(1e3), 1e-3 * *millidegree);
    }
  }
  return lowest;
}

OperatingPoint present_clocks(const World& world, const Knobs& knobs) {
  OperatingPoint point;
  if (knobs.gpu) point.gpu_hz = read_hz(world, knobs.gpu->now);
  point.memory_hz = memory_hz(world, knobs);
  for (const ClockKnob& clock : knobs.cpu_clocks)
    if (const auto hz = read_hz(world, clock.now, clock.unit_hz)) point.cpu_hz.push_back(*hz);
  if (!knobs.cpus.empty()) point.cpu_cores = static_cast<int>(knobs.online().size());
  return point;
}

MachineWatch::MachineWatch(const World& world, const Knobs& knobs)
    : world_(world),
      knobs_(knobs),
      events_(over_current_events(world.root())),
      trip_c_(passive_trip_c(world.root())) {
  look();
}

void MachineWatch::look() {
  if (const auto now = hottest_zone_c(world_.root())) {
    coolest_c_ = std::min(coolest_c_.value_or(*now), *now);
    hottest_c_ = std::max(hottest_c_.value_or(*now), *now);
  }
  if (!knobs_.gpu) return;
  if (const auto hz = read_hz(world_, knobs_.gpu->now))
    lowest_gpu_hz_ = std::min(lowest_gpu_hz_.value_or(*hz), *hz);
}

std::vector<Warning> MachineWatch::finish() {
  look();
  std::vector<Warning> warnings;
  const char* const cool = "cool the machine, or measure a mode that draws less power";
  for (const auto& [counter, count] : over_current_events(world_.root())) {
    const auto before = events_.find(counter);
    const double more = count - (before == events_.end() ? 0 : before->second);
    if (more > 0)
      warnings.push_back({fmt::format("the board throttled: {} counted {:.0f} over-current event{}",
                                      counter, more, more == 1 ? "" : "s"),
                          "measure a mode that draws less power"});
  }
  if (trip_c_ && hottest_c_ && *hottest_c_ >= *trip_c_)
    warnings.push_back({fmt::format("{:.0f} °C reached the trip point of {:.0f} °C: the kernel "
                                    "slows the machine down",
                                    *hottest_c_, *trip_c_),
                        cool});
  // Only a held clock says something: a governor lowers a free one at every pause.
  if (knobs_.gpu && lowest_gpu_hz_) {
    const auto low = read_hz(world_, knobs_.gpu->min), high = read_hz(world_, knobs_.gpu->max);
    if (low && high && same_clock(*low, *high) && *lowest_gpu_hz_ < fallen_share * *high)
      warnings.push_back({fmt::format("the GPU clock fell to {} of {} although it was held",
                                      clock_text(*lowest_gpu_hz_), clock_text(*high)),
                          cool});
  }
  return warnings;
}

}  // namespace ridgeline::control
