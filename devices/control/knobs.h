// The knobs of this machine: which nodes set its clocks, cores and caps, on each generation of
// Jetson Linux and on a PC. Only found and read here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/control/world.h"
#include "devices/machine/system_files.h"

namespace ridgeline::control {

// A clock with a lower and an upper limit: a cpufreq policy or a devfreq folder.
struct ClockKnob {
  std::string word;              // "gpu", "cpu", "emc": as a mode request names it
  std::string folder;            // below the root, ends in '/'
  std::string min, max, now;     // nodes
  double unit_hz = 1;            // of their values: 1000 for cpufreq
  std::vector<double> table_hz;  // ascending; empty where the system has none
  std::vector<int> cpus;         // that share it, of a CPU clock
  std::string governor;          // present one; may be empty
};

// A Jetson's memory clock where it has no devfreq folder: locked through debugfs, capped by
// nvpmodel's own node.
struct MemoryKnob {
  std::string lock;    // node that takes 1 to hold the rate, 0 to free it; empty = cannot
  std::string rate;    // node to write
  std::string now;     // node to read
  std::string state;   // node that must be 1; empty = none
  std::string lowest;  // nodes of the range; may be empty
  std::string highest;
};

struct CpuKnob {
  int number = 0;
  std::string online;  // node; empty: this CPU cannot be switched
  bool is_on = true;
};

struct Knobs {
  std::vector<CpuKnob> cpus;          // by number
  std::vector<ClockKnob> cpu_clocks;  // policies that exist now
  std::optional<ClockKnob> gpu;
  std::optional<ClockKnob> memory_clock;  // Thor
  std::optional<MemoryKnob> memory_lock;
  std::string memory_cap;       // node; empty where there is none
  std::optional<int> nvpmodel;  // number of the present mode
  bool has_nvpmodel = false;    // its program
  std::optional<int> tpc_mask;  // present one, read only
  bool has_card = false;

  std::vector<int> online() const;  // CPUs, ascending
};

Knobs find_knobs(const World& world);

// The number in a node, in hertz by the unit.
std::optional<double> read_hz(const World& world, const std::string& node, double unit_hz = 1);

// The memory clock that is in force: the locked or present rate.
std::optional<double> memory_hz(const World& world, const Knobs& knobs);

// nvpmodel's cap on the memory clock; 0 and −1 are none.
std::optional<double> memory_cap_hz(const World& world, const Knobs& knobs);

}  // namespace ridgeline::control
