// Over-current counters are cumulative since boot: OC1 is under-voltage, OC2 the mean and OC3 the
// momentary current. Zones that are switched off read −256 °C or fail, and are left out.
#include "devices/control/machine_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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

// Duty and speed of the fans: hwmon's, or the folder of JetPack 4.
struct Fan {
  std::optional<double> share, rpm;
};

Fan read_fan(const SystemRoot& root) {
  constexpr double full = 255;
  Fan fan;
  const auto add = [](std::optional<double>& slot, const std::optional<double>& value,
                      double unit) {
    if (value && *value >= 0) slot = std::max(slot.value_or(0), *value / unit);
  };
  for (const std::string& name : names_in(root, "sys/class/hwmon")) {
    const std::string folder = "sys/class/hwmon/" + name + '/';
    add(fan.share, number(root, folder + "pwm1"), full);
    add(fan.rpm, number(root, folder + "fan1_input"), 1);
  }
  add(fan.share, number(root, "sys/devices/pwm-fan/cur_pwm"), full);
  if (fan.share) fan.share = std::min(*fan.share, 1.0);
  return fan;
}

void widen(std::optional<double>& lowest, std::optional<double>& highest, double value) {
  lowest = std::min(lowest.value_or(value), value);
  highest = std::max(highest.value_or(value), value);
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

std::optional<bool> is_gpu_suspended(const World& world, const Knobs& knobs) {
  std::vector<std::string> folders{"sys/devices/platform/gpu.0/", "sys/devices/gpu.0/"};
  if (knobs.gpu) folders.insert(folders.begin(), knobs.gpu->folder + "device/");
  for (const std::string& folder : folders)
    if (const auto word = first_line(world.root(), folder + "power/runtime_status")) {
      const std::string state = trimmed(*word);
      if (state == "suspended" || state == "active") return state == "suspended";
    }
  return std::nullopt;
}

bool is_gpu_clock_held(const World& world, const Knobs& knobs) {
  if (!knobs.gpu) return false;
  const auto low = read_hz(world, knobs.gpu->min), high = read_hz(world, knobs.gpu->max);
  return low && high && same_clock(*low, *high);
}

MachineWatch::MachineWatch(const World& world, const Knobs& knobs)
    : world_(world), knobs_(knobs), events_(over_current_events(world.root())) {
  seen_.trip_c = passive_trip_c(world.root());
  look();
}

KnobCondition& MachineWatch::knob(const std::string& name) {
  const auto found = std::ranges::find(seen_.knobs, name, &KnobCondition::knob);
  if (found != seen_.knobs.end()) return *found;
  seen_.knobs.push_back({.knob = name, .lowest = {}, .highest = {}});
  return seen_.knobs.back();
}

void MachineWatch::see(const std::string& name, std::optional<double> value) {
  if (!value) return;
  KnobCondition& seen = knob(name);
  widen(seen.lowest, seen.highest, *value);
}

void MachineWatch::look() {
  const SystemRoot& root = world_.root();
  if (const auto now = hottest_zone_c(root)) {
    widen(seen_.coolest_c, seen_.hottest_c, *now);
    hot_looks_ += seen_.trip_c && *now >= *seen_.trip_c;
  }
  const Fan fan = read_fan(root);
  if (fan.share) widen(seen_.fan_lowest, seen_.fan_highest, *fan.share);
  if (fan.rpm) seen_.fan_rpm = std::max(seen_.fan_rpm.value_or(0), *fan.rpm);
  const OperatingPoint now = present_clocks(world_, knobs_);
  see("gpu", now.gpu_hz);
  see("emc", now.memory_hz);
  for (const double hz : now.cpu_hz) see("cpu", hz);
  if (now.cpu_cores) see("cores", *now.cpu_cores);
  // Only a held clock says something: a governor lowers a free one at every pause.
  if (!now.gpu_hz || !is_gpu_clock_held(world_, knobs_)) return;
  const auto high = read_hz(world_, knobs_.gpu->max);
  fallen_looks_ += *now.gpu_hz < fallen_share * *high;
}

std::vector<Warning> MachineWatch::finish() {
  look();
  std::vector<Warning> warnings;
  const char* const cool = "cool the machine, or measure a mode that draws less power";
  seen_.throttling.clear();
  for (const auto& [counter, count] : over_current_events(world_.root())) {
    const auto before = events_.find(counter);
    const double more = std::max(0.0, count - (before == events_.end() ? 0 : before->second));
    seen_.throttling.push_back({counter, static_cast<std::uint64_t>(more)});
    if (more > 0)
      warnings.push_back({fmt::format("the board throttled: {} counted {:.0f} over-current event{}",
                                      counter, more, more == 1 ? "" : "s"),
                          "measure a mode that draws less power"});
  }
  if (seen_.trip_c && seen_.hottest_c) seen_.throttling.push_back({"trip_point", hot_looks_});
  if (hot_looks_ > 0)
    warnings.push_back({fmt::format("{:.0f} °C reached the trip point of {:.0f} °C: the kernel "
                                    "slows the machine down",
                                    *seen_.hottest_c, *seen_.trip_c),
                        cool});
  const bool gpu_held = is_gpu_clock_held(world_, knobs_);
  if (gpu_held) {
    seen_.throttling.push_back({"clock_fell", fallen_looks_});
    if (fallen_looks_ > 0)
      warnings.push_back({fmt::format("the GPU clock fell to {} of {} although it was held",
                                      clock_text(*knob("gpu").lowest),
                                      clock_text(*read_hz(world_, knobs_.gpu->max))),
                          cool});
  }
  if (knobs_.gpu) {
    knob("gpu").governor = knobs_.gpu->governor;
    knob("gpu").held = gpu_held;
  }
  if (knobs_.memory_clock) knob("emc").governor = knobs_.memory_clock->governor;
  if (knobs_.memory_lock && number(world_.root(), knobs_.memory_lock->lock) == 1)
    knob("emc").held = true;
  if (!knobs_.cpu_clocks.empty()) {
    KnobCondition& cpu = knob("cpu");
    cpu.governor = knobs_.cpu_clocks.front().governor;
    cpu.held = std::ranges::all_of(knobs_.cpu_clocks, [&](const ClockKnob& clock) {
      const auto low = read_hz(world_, clock.min, clock.unit_hz);
      const auto high = read_hz(world_, clock.max, clock.unit_hz);
      return low && high && same_clock(*low, *high);
    });
  }
  return warnings;
}

}  // namespace ridgeline::control
