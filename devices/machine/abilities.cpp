// One function per ability; each looks at one corner of /sys or /proc.
// The paths in fixes are the real ones, whatever root is looked at.
#include "devices/machine/abilities.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/units.h"
#include "devices/machine/identification.h"
#include "devices/machine/system_files.h"
#include "devices/sensors/rapl.h"
#include "devices/sensors/sensors.h"

namespace ridgeline {
namespace {

using Kind = Ability::Kind;

constexpr const char* as_root = "run ridgeline with sudo";

std::string clock_range(const SystemRoot& root, const std::string& folder) {
  const auto low = number(root, folder + "cpuinfo_min_freq");
  const auto high = number(root, folder + "cpuinfo_max_freq");
  if (!low || !high) return "range unknown";
  return format_hz(*low * 1e3) + " to " + format_hz(*high * 1e3);
}

Ability cpu_clock(const SystemRoot& root) {
  const std::string folder = "sys/devices/system/cpu/cpu0/cpufreq/";
  Ability ability{Kind::set, "CPU clock", false, {}, {}};
  if (!exists(root, folder + "scaling_max_freq")) {
    ability.detail = "the system has no clock control (usual in a virtual machine)";
    ability.fix = "measure on the host or on bare metal to lock clocks";
    return ability;
  }
  ability.available = may_write(root, folder + "scaling_max_freq");
  ability.detail = clock_range(root, folder) + ", governor " +
                   first_line(root, folder + "scaling_governor").value_or("unknown");
  if (!ability.available) {
    ability.detail += "; only root may set it";
    ability.fix = as_root;
  }
  return ability;
}

Ability power_cap(const SystemRoot& root) {
  Ability ability{Kind::set, "power cap", false, {}, {}};
  const auto packages = rapl_packages(root);
  if (packages.empty() || !exists(root, packages[0] + "/constraint_0_power_limit_uw")) {
    ability.detail = "no RAPL limits here";
    return ability;
  }
  ability.available = may_write(root, packages[0] + "/constraint_0_power_limit_uw");
  ability.detail = "RAPL, per package";
  if (!ability.available) {
    ability.detail += "; only root may set it";
    ability.fix = as_root;
  }
  return ability;
}

Ability jetson_mode(const SystemRoot& root) {
  Ability ability{Kind::set, "power mode", geteuid() == 0, "nvpmodel", {}};
  if (!exists(root, "usr/sbin/nvpmodel")) {
    ability.available = false;
    ability.detail = "nvpmodel is not installed";
    ability.fix = "sudo apt install nvidia-l4t-nvpmodel";
  } else if (!ability.available) {
    ability.detail += "; only root may set it";
    ability.fix = as_root;
  }
  return ability;
}

// The sensors that a machine like this one has, by the list that measuring uses too.
std::vector<Ability> power_sensors(const SystemRoot& root) {
  const SensorPlace place{.root = root};
  std::vector<Ability> abilities;
  for (const SensorKind& kind : sensor_kinds()) {
    if (!kind.is_expected(root)) continue;
    const OpenedSensor opened = kind.open(place);
    abilities.push_back({Kind::read, kind.quantity, opened.sensor != nullptr,
                         opened.detail.empty() ? opened.why_not : opened.detail, opened.fix});
  }
  return abilities;
}

Ability counters(const SystemRoot& root) {
  Ability ability{Kind::read, "performance counters", false, {}, {}};
  const auto paranoid = number(root, "proc/sys/kernel/perf_event_paranoid");
  const auto units = names_in(root, "sys/bus/event_source/devices");
  const bool has_unit = std::any_of(units.begin(), units.end(), [](const std::string& name) {
    return name.starts_with("cpu") || name.starts_with("armv8");
  });
  if (!paranoid || !has_unit) {
    ability.detail = "the system shows no counters of the CPU";
    ability.fix = "in a virtual machine: have its host pass the counters through";
    return ability;
  }
  ability.available = *paranoid <= 2 || geteuid() == 0;
  ability.detail = fmt::format("perf_event_paranoid = {:.0f}", *paranoid);
  if (!ability.available) {
    ability.detail += ", which shuts ordinary users out";
    ability.fix = "sudo sysctl kernel.perf_event_paranoid=2";
  }
  return ability;
}

}  // namespace

std::string_view to_string(Ability::Kind kind) {
  switch (kind) {
    case Kind::set:
      return "set";
    case Kind::read:
      return "read";
    case Kind::run:
      return "run";
  }
  return "?";
}

std::vector<Ability> system_abilities(const SystemRoot& root) {
  std::vector<Ability> abilities = {cpu_clock(root)};
  abilities.push_back(is_jetson(root) ? jetson_mode(root) : power_cap(root));
  for (Ability& ability : power_sensors(root)) abilities.push_back(std::move(ability));
  abilities.push_back(counters(root));
  return abilities;
}

}  // namespace ridgeline
