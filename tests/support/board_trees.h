// Made-up trees of whole boards for setting modes and reading power: the knobs, rails and nvpmodel
// of each generation of Jetson Linux where its releases put them, and two PCs. Values are realistic
// and our own; no vendor's file is copied.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/fake_system.h"

namespace ridgeline::testing {

// A rail of an INA3221 or INA238: its label, volt and ampere at rest.
struct TreeRail {
  std::string label;
  double millivolt = 5000, milliampere = 1000;
};

enum class EmcKnob { none, bpmp, bwmgr, override_clock };
enum class RailLayout { none, hwmon, hwmon_two, thor, iio };

struct BoardTree {
  std::string name;
  std::string compatible;                  // NUL is written as '|'
  std::string release;                     // of /etc/nv_tegra_release
  std::vector<std::vector<int>> policies;  // CPUs of each cpufreq policy
  int cpus_off = 0;                        // the last ones
  std::vector<int> cpu_khz;                // table
  int cpu_min_khz = 0, cpu_max_khz = 0;    // limits in force
  std::string gpu_folder;                  // below the root, ends in '/'
  std::vector<long> gpu_hz;                // table
  long gpu_max_hz = 0;                     // limit in force
  std::string mask_folder;                 // of tpc_pg_mask; empty = none
  int tpc_mask = 0;
  EmcKnob emc = EmcKnob::none;
  std::vector<long> emc_hz;  // table, not shown by the system
  std::string emc_cap;       // node; empty = none
  long emc_cap_hz = 0;
  RailLayout layout = RailLayout::none;
  std::vector<TreeRail> rails;
  std::map<int, std::string> modes;  // of nvpmodel's file
  int mode = -1;                     // in force; −1 = no nvpmodel
};

const std::vector<BoardTree>& board_trees();
const BoardTree& board_tree(const std::string& name);
void make_board(FakeSystem& system, const BoardTree& tree);

void make_empty(FakeSystem& system);    // a container without /sys
void make_pc_rapl(FakeSystem& system);  // two packages, cpufreq with a table
void make_pc_card(FakeSystem& system);  // the same with an NVIDIA driver

// The text of every file below the root but ridgeline's own folder, by path.
std::map<std::string, std::string> tree_content(const FakeSystem& system);

}  // namespace ridgeline::testing
