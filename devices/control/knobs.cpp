// Looks in all the places where the releases put a knob; which one it was does not matter later.
#include "devices/control/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <system_error>

#include "base/text.h"
#include "devices/machine/clock_files.h"

namespace ridgeline::control {
namespace {

constexpr const char* cpu_folder = "sys/devices/system/cpu/";

std::vector<double> clock_table(const SystemRoot& root, const std::string& node, double unit_hz) {
  std::istringstream words(first_line(root, node).value_or(""));
  std::vector<double> table;
  for (double value = 0; words >> value;)
    if (value > 0) table.push_back(value * unit_hz);
  std::sort(table.begin(), table.end());
  table.erase(std::unique(table.begin(), table.end()), table.end());
  return table;
}

std::vector<int> cpu_numbers(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream words(text);  // "0 1 2 3", as related_cpus has it
  for (int cpu = 0; words >> cpu;) numbers.push_back(cpu);
  return numbers;
}

ClockKnob devfreq_knob(const SystemRoot& root, const std::string& folder, const char* word) {
  ClockKnob knob;
  knob.word = word;
  knob.folder = folder;
  knob.min = folder + "min_freq";
  knob.max = folder + "max_freq";
  knob.now = folder + "cur_freq";
  knob.table_hz = clock_table(root, folder + "available_frequencies", 1);
  knob.governor = first_line(root, folder + "governor").value_or("");
  return knob;
}

std::vector<CpuKnob> find_cpus(const SystemRoot& root) {
  std::vector<CpuKnob> cpus;
  for (const std::string& name : names_in(root, cpu_folder)) {
    int number = 0;
    if (!name.starts_with("cpu")) continue;
    const auto [end, fault] = std::from_chars(name.data() + 3, name.data() + name.size(), number);
    if (fault != std::errc{} || end != name.data() + name.size()) continue;
    CpuKnob cpu{number, {}, true};
    const std::string node = cpu_folder + name + "/online";
    if (const auto line = first_line(root, node)) {
      cpu.is_on = trimmed(*line) != "0";
      if (number > 0) cpu.online = node;
    }
    cpus.push_back(cpu);
  }
  std::ranges::sort(cpus, {}, &CpuKnob::number);
  return cpus;
}

std::vector<ClockKnob> find_cpu_clocks(const SystemRoot& root) {
  std::vector<ClockKnob> clocks;
  for (const std::string& folder : cpu_policy_folders(root)) {
    if (!exists(root, folder + "scaling_max_freq")) continue;
    ClockKnob knob;
    knob.word = "cpu";
    knob.folder = folder;
    knob.min = folder + "scaling_min_freq";
    knob.max = folder + "scaling_max_freq";
    knob.now = folder + "scaling_cur_freq";
    knob.unit_hz = 1e3;
    knob.table_hz = clock_table(root, folder + "scaling_available_frequencies", 1e3);
    knob.cpus = cpu_numbers(first_line(root, folder + "related_cpus").value_or(""));
    knob.governor = first_line(root, folder + "scaling_governor").value_or("");
    clocks.push_back(std::move(knob));
  }
  return clocks;
}

std::optional<MemoryKnob> find_memory_lock(const SystemRoot& root) {
  const std::string bpmp = "sys/kernel/debug/bpmp/debug/clk/emc/";
  if (exists(root, bpmp + "rate")) {
    MemoryKnob knob{bpmp + "mrq_rate_locked", bpmp + "rate", bpmp + "rate", {}, {}, {}};
    if (exists(root, bpmp + "state")) knob.state = bpmp + "state";
    knob.lowest = bpmp + "min_rate";
    knob.highest = bpmp + "max_rate";
    return knob;
  }
  const std::string override_clock = "sys/kernel/debug/clk/override.emc/";  // Nano
  if (exists(root, override_clock + "clk_update_rate"))
    return MemoryKnob{override_clock + "clk_state",
                      override_clock + "clk_update_rate",
                      override_clock + "clk_rate",
                      {},
                      "sys/kernel/debug/tegra_bwmgr/emc_min_rate",
                      "sys/kernel/debug/tegra_bwmgr/emc_max_rate"};
  return std::nullopt;
}

}  // namespace

std::vector<int> Knobs::online() const {
  std::vector<int> numbers;
  for (const CpuKnob& cpu : cpus)
    if (cpu.is_on) numbers.push_back(cpu.number);
  return numbers;
}

std::optional<double> read_hz(const World& world, const std::string& node, double unit_hz) {
  if (node.empty()) return std::nullopt;
  const auto value = number(world.root(), node);
  return value ? std::optional(*value * unit_hz) : std::nullopt;
}

Knobs find_knobs(const World& world) {
  const SystemRoot& root = world.root();
  Knobs knobs;
  knobs.cpus = find_cpus(root);
  knobs.cpu_clocks = find_cpu_clocks(root);
  if (const auto folder = gpu_clock_folder(root); folder && exists(root, *folder + "max_freq"))
    knobs.gpu = devfreq_knob(root, *folder, "gpu");
  if (const std::string folder = "sys/class/devfreq/bwmgr/"; exists(root, folder + "max_freq"))
    knobs.memory_clock = devfreq_knob(root, folder, "emc");
  else
    knobs.memory_lock = find_memory_lock(root);
  for (const char* node :
       {"sys/kernel/nvpmodel_clk_cap/emc", "sys/kernel/nvpmodel_emc_cap/emc_iso_cap"})
    if (knobs.memory_cap.empty() && exists(root, node)) knobs.memory_cap = node;
  if (const auto mode = world.read(nvpmodel_mode)) knobs.nvpmodel = std::stoi(*mode);
  knobs.has_nvpmodel = exists(root, "usr/sbin/nvpmodel");
  for (const char* node :
       {"sys/devices/platform/gpu.0/tpc_pg_mask", "sys/devices/gpu.0/tpc_pg_mask"})
    if (const auto mask = number(root, node); mask && !knobs.tpc_mask)
      knobs.tpc_mask = static_cast<int>(*mask);
  knobs.has_card = world.has_card();
  return knobs;
}

std::optional<double> memory_hz(const World& world, const Knobs& knobs) {
  if (knobs.memory_clock) return read_hz(world, knobs.memory_clock->now);
  if (knobs.memory_lock) return read_hz(world, knobs.memory_lock->now);
  return std::nullopt;
}

std::optional<double> memory_cap_hz(const World& world, const Knobs& knobs) {
  const auto hz = read_hz(world, knobs.memory_cap);
  constexpr double nothing_hz = 1e11;  // −1 may read as the largest number of 64 bits
  return hz && *hz > 0 && *hz < nothing_hz ? hz : std::nullopt;
}

}  // namespace ridgeline::control
