// The CPU of a graphics card's server: how fast one of its threads runs the host's part of a
// network. Named, from a small table, or given as a factor.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/machine_model.h"

namespace ridgeline {

struct HostCpu {
  std::string_view name;
  std::string_view core;      // its microarchitecture
  double turbo_ghz = 0;       // highest clock of one core
  double work_per_clock = 0;  // of one thread, relative to Zen 2
};

std::span<const HostCpu> host_cpus();

// Speed of one thread over that of an EPYC 7742, for "Xeon 8480" or "0.8". A usage error for a name
// that is not in the table, or that fits several CPUs of it.
double host_cpu_factor(const std::string& text);

// Sets the host's speed. A usage error if the machine is not a graphics card: boards and CPUs state
// their own clocks.
void set_host_cpu(MachineModel& model, const std::string& text);

}  // namespace ridgeline
