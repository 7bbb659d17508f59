// One function per ability; each looks at one corner of /sys or /proc.
// The paths in fixes are the real ones, whatever root is looked at.
#include "devices/machine/abilities.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/units.h"
#include "devices/machine/system_files.h"
#include "devices/sensors/rapl.h"

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

Ability cpu_power(const SystemRoot& root) {
  Ability ability{Kind::read, "CPU power", false, {}, {}};
  const auto packages = rapl_packages(root);
  if (packages.empty()) {
    ability.detail = "no RAPL energy counters here (virtual machines and most Arm systems)";
    ability.fix = "measure on bare metal to see energy";
    return ability;
  }
  ability.available = std::all_of(packages.begin(), packages.end(), [&](const std::string& zone) {
    return may_read(root, zone + "/energy_uj");
  });
  ability.detail =
      fmt::format("RAPL, {} package{}", packages.size(), packages.size() > 1 ? "s" : "");
  if (!ability.available) {
    ability.detail += "; only root may read it";
    ability.fix = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj";
  }
  return ability;
}

// The rails that a board's INA3221 chips name; "NC" is a channel that is not connected.
Ability board_power(const SystemRoot& root) {
  Ability ability{Kind::read, "board power", false, {}, {}};
  std::string rails;
  for (const std::string& chip : names_in(root, "sys/class/hwmon")) {
    const std::string folder = "sys/class/hwmon/" + chip + '/';
    if (first_line(root, folder + "name") != "ina3221") continue;
    for (const char* label : {"in1_label", "in2_label", "in3_label"})
      if (const auto rail = first_line(root, folder + label); rail && *rail != "NC")
        rails += (rails.empty() ? "" : ", ") + *rail;
  }
  ability.available = !rails.empty();
  ability.detail = rails.empty() ? "no INA3221 sensor found" : "INA3221: " + rails;
  if (rails.empty()) ability.fix = "sudo modprobe ina3221";
  return ability;
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

bool is_jetson(const SystemRoot& root) {
  return exists(root, "etc/nv_tegra_release") || exists(root, "var/lib/nvpmodel/status");
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
  if (is_jetson(root)) {
    abilities.push_back(jetson_mode(root));
    abilities.push_back(board_power(root));
  } else {
    abilities.push_back(power_cap(root));
    abilities.push_back(cpu_power(root));
  }
  abilities.push_back(counters(root));
  return abilities;
}

}  // namespace ridgeline
