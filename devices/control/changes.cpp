// A maximum may be written first unless it would fall below the present minimum: then the minimum
// goes first, and it is not above the present maximum either.
#include "devices/control/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "devices/modes/clock_table.h"
#include "devices/modes/mode_space.h"

namespace ridgeline::control {
namespace {

std::optional<double> node_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  return fault == std::errc{} ? std::optional(value) : std::nullopt;
}

bool is_cpu_clock(const std::string& node) { return node.find("/scaling_") != std::string::npos; }

bool is_clock(const std::string& node) {
  return node.ends_with("_freq") || node.ends_with("/rate") || node.ends_with("rate") ||
         node.ends_with("/emc") || node.ends_with("emc_iso_cap");
}

std::string clock_value(double hz, double unit_hz) { return fmt::format("{:.0f}", hz / unit_hz); }

// The system's table as a domain of the catalog, which knows how to round.
catalog::ClockDomain live_domain(const std::vector<double>& table) {
  catalog::ClockDomain domain;
  for (const double hz : table) domain.steps.push_back({hz, {}});
  domain.complete = true;
  return domain;
}

double step_for(const std::vector<double>& table, const catalog::ClockDomain* domain, double hz,
                const ClockAsker& asker, std::vector<std::string>& notes) {
  if (!table.empty()) return lockable_clock(live_domain(table), hz, asker, notes);
  if (domain && (!domain->steps.empty() || domain->ceiling_hz))
    return lockable_clock(*domain, hz, asker, notes);
  return hz;
}

// The CPUs of each cluster of the catalog: the policy of the same size, in the order of their
// numbers; without policies the CPUs are counted through.
std::vector<std::vector<int>> cluster_cpus(const Knobs& knobs, const catalog::Device& device) {
  std::vector<std::vector<int>> clusters;
  std::vector<bool> taken(knobs.cpu_clocks.size(), false);
  std::size_t matched = 0;
  for (const catalog::CpuCluster& cluster : device.cpu) {
    const auto size = cluster.cores ? static_cast<std::size_t>(cluster.cores->value) : 0;
    clusters.emplace_back();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i] || knobs.cpu_clocks[i].cpus.size() != size) continue;
      taken[i] = true;
      clusters.back() = knobs.cpu_clocks[i].cpus;
      ++matched;
      break;
    }
  }
  if (matched == device.cpu.size() && matched > 0) return clusters;
  return {};
}

std::vector<int> cpus_for(const Knobs& knobs, const catalog::Device& device,
                          const catalog::Configuration& configuration, int cores,
                          const std::string& where) {
  if (knobs.cpus.empty()) throw usage_error(where, "the system shows no CPUs to switch");
  if (cores < 1 || cores > static_cast<int>(knobs.cpus.size()))
    throw usage_error(where,
                      fmt::format("cores={}: this machine has {} CPUs", cores, knobs.cpus.size()));
  std::vector<int> on;
  const auto clusters = cluster_cpus(knobs, device);
  if (!clusters.empty()) {
    const std::vector<int> counts = cores_per_cluster(device, configuration, cores);
    for (std::size_t i = 0; i < clusters.size(); ++i)
      for (int k = 0; k < counts[i] && k < static_cast<int>(clusters[i].size()); ++k)
        on.push_back(clusters[i][static_cast<std::size_t>(k)]);
  }
  std::ranges::sort(on);
  if (static_cast<int>(on.size()) != cores || on.front() != 0) {
    on.clear();
    for (int k = 0; k < cores; ++k) on.push_back(knobs.cpus[static_cast<std::size_t>(k)].number);
  }
  return on;
}

void refuse_reboot(const Knobs& knobs, const DeviceMode& mode, const std::string& where) {
  if (!needs_reboot(knobs, mode)) return;
  throw Error(where,
              fmt::format("{} has other SMs on than now, which needs a reboot", mode.point.label),
              mode.id ? fmt::format("sudo nvpmodel -m {} && sudo reboot", *mode.id) : "",
              ExitCode::infeasible);
}

std::string sibling(const std::string& node, std::string_view file) {
  return node.substr(0, node.find_last_of('/') + 1) + std::string(file);
}

// The other limit of the same clock; empty if the node is none.
std::string other_limit(const std::string& node) {
  const std::string file = node.substr(node.find_last_of('/') + 1);
  if (file == "min_freq") return sibling(node, "max_freq");
  if (file == "max_freq") return sibling(node, "min_freq");
  if (file == "scaling_min_freq") return sibling(node, "scaling_max_freq");
  if (file == "scaling_max_freq") return sibling(node, "scaling_min_freq");
  return {};
}

bool is_minimum(const std::string& node) { return node.ends_with("min_freq"); }

int cpu_number(const std::string& node) {
  const auto at = node.rfind("/cpu");
  int number = 0;
  std::from_chars(node.data() + at + 4, node.data() + node.size(), number);
  return number;
}

int rank(const Change& change) {
  const std::string& node = change.node;
  if (node == nvpmodel_mode) return 0;
  if (node.ends_with("/online")) return change.to == "0" ? 9 : 1;
  if (node.ends_with("/state") || node.ends_with("/mrq_rate_locked") ||
      node.ends_with("/clk_state"))
    return change.to == "0" ? 6 : 4;
  if (node.ends_with("rate")) return 5;
  if (node.ends_with("/emc") || node.ends_with("emc_iso_cap")) return 7;
  return 3;
}

class Collector {
 public:
  // `has_caps`: the present mode's; nvpmodel is about to set others where it does not.
  Collector(const World& world, const Original& original, bool has_caps)
      : world_(world), original_(original), has_caps_(has_caps) {}

  void add(std::string knob, const std::string& node, std::string to) {
    const auto from = world_.read(node);
    if (!from)
      throw Error('/' + node, "cannot be read, so it could not be restored",
                  "run ridgeline with sudo, and check that the node exists");
    const auto a = node_number(from), b = node_number(to);
    const bool same = a && b ? *a == *b : *from == to;
    if (!same) changes_.push_back({std::move(knob), node, *from, std::move(to)});
  }

  // What the maximum was before we came is the cap of the present mode.
  void check_cap(const std::string& word, const std::string& node, double unit_hz,
                 double hz) const {
    const auto cap = node_number(original_(node));
    if (!has_caps_ || !cap || hz <= *cap * unit_hz || same_clock(hz, *cap * unit_hz)) return;
    throw Error({},
                fmt::format("{}={} is above the {} that the present mode allows", word,
                            clock_text(hz), clock_text(*cap * unit_hz)),
                "choose a mode with a higher cap first, for example sudo nvpmodel -m 0",
                ExitCode::infeasible);
  }

  void limit(const ClockKnob& clock, const std::string& name, double hz, bool locked,
             double lowest_hz) {
    check_cap(clock.word, clock.max, clock.unit_hz, hz);
    add(name + ", upper limit", clock.max, clock_value(hz, clock.unit_hz));
    const auto low = node_number(world_.read(clock.min));
    if (locked)
      add(name + ", lower limit", clock.min, clock_value(hz, clock.unit_hz));
    else if (low && *low * clock.unit_hz > hz && !same_clock(*low * clock.unit_hz, hz))
      add(name + ", lower limit", clock.min, clock_value(std::min(lowest_hz, hz), clock.unit_hz));
  }

  std::vector<Change> take() { return std::move(changes_); }

 private:
  const World& world_;
  const Original& original_;
  bool has_caps_;
  std::vector<Change> changes_;
};

void add_memory(const World& world, const Knobs& knobs, const Wanted& wanted,
                const Original& original, Collector& changes) {
  const double hz = *wanted.memory_hz;
  if (!knobs.memory_cap.empty()) {
    const auto cap = node_number(original(knobs.memory_cap));
    if (cap && *cap > 0 && hz > *cap && !same_clock(hz, *cap))
      changes.check_cap("emc", knobs.memory_cap, 1, hz);
  }
  if (knobs.memory_clock) {
    const ClockKnob& clock = *knobs.memory_clock;
    changes.limit(clock, "memory clock", hz, wanted.locked,
                  clock.table_hz.empty() ? hz : clock.table_hz.front());
    return;
  }
  if (knobs.memory_lock) {
    const MemoryKnob& knob = *knobs.memory_lock;
    if (const auto top = read_hz(world, knob.highest); top && hz > *top && !same_clock(hz, *top))
      throw Error(
          {},
          fmt::format("emc={} is above the {} of the firmware", clock_text(hz), clock_text(*top)),
          "ask for less", ExitCode::infeasible);
  }
  if (wanted.locked) {
    if (!knobs.memory_lock)
      throw Error("emc", "the system shows no node that locks the memory clock",
                  "run ridgeline with sudo, and mount debugfs on /sys/kernel/debug");
    const MemoryKnob& knob = *knobs.memory_lock;
    changes.add("memory clock, lock", knob.lock, "1");
    if (!knob.state.empty()) changes.add("memory clock, enabled", knob.state, "1");
    changes.add("memory clock", knob.rate, clock_value(hz, 1));
    return;
  }
  if (knobs.memory_cap.empty())
    throw Error("emc", "the system shows no node that caps the memory clock",
                "add --lock to hold it instead, or leave emc out");
  changes.add("memory clock, cap", knobs.memory_cap, clock_value(hz, 1));
}

}  // namespace

bool needs_reboot(const Knobs& knobs, const DeviceMode& mode) {
  return knobs.tpc_mask && mode.tpc_pg_mask &&
         static_cast<int>(*mode.tpc_pg_mask) != *knobs.tpc_mask;
}

std::string value_text(const std::string& node, const std::string& value) {
  const auto number = node_number(value);
  if (node == card_power_limit && number) return fmt::format("{:g} W", *number * 1e-3);
  if (node == card_gpu_clock && number) return fmt::format("{:g} MHz", *number);
  if (node.ends_with("/online")) return value == "0" ? "off" : "on";
  if (node.ends_with("locked") || node.ends_with("state")) return value == "0" ? "no" : "yes";
  if (!number || !is_clock(node)) return value;
  if (*number <= 0 || *number > 1e11) return "none";
  return clock_text(*number * (is_cpu_clock(node) ? 1e3 : 1));
}

Wanted wanted_mode(const Knobs& knobs, const catalog::Device& device,
                   const catalog::Configuration& configuration, const ModeRequest& request,
                   bool locked, const std::string& where) {
  Wanted wanted;
  wanted.locked = locked;
  ModeRequest caps = request;
  const bool is_label = !request.label.empty() && !(configuration.modes.empty() && request.cap_w);
  if (is_label) {
    const DeviceMode mode = resolve(device, configuration, request, where);
    refuse_reboot(knobs, mode, where);
    if (knobs.has_nvpmodel && mode.id) wanted.nvpmodel = mode.id;
    caps.gpu_hz = mode.point.gpu_hz;
    caps.memory_hz = mode.point.memory_hz;
    if (!mode.point.cpu_hz.empty()) caps.cpu_hz = mode.point.cpu_hz.front();
    caps.cpu_cores = mode.point.cpu_cores;
    caps.cap_w.reset();
    // A stock mode's caps are as written, whatever the table: the board rounds them.
    if (wanted.nvpmodel && !locked) return wanted;
  } else if (request.gpu_units) {
    refuse_reboot(knobs, resolve(device, configuration, request, where), where);
  }
  const auto clock = [&](const char* word, std::optional<double> hz,
                         const std::vector<double>& table,
                         const catalog::ClockDomain* domain) -> std::optional<double> {
    if (!hz) return std::nullopt;
    std::vector<std::string> quiet;
    return step_for(table, domain, *hz, {device.id, word, where}, is_label ? quiet : wanted.notes);
  };
  if (caps.gpu_hz && !knobs.gpu && !knobs.has_card)
    throw usage_error(where, "this machine has no GPU clock to set");
  wanted.gpu_hz = clock("gpu", caps.gpu_hz, knobs.gpu ? knobs.gpu->table_hz : std::vector<double>{},
                        &configuration.gpu);
  if (caps.memory_hz && !knobs.memory_clock && !knobs.memory_lock && knobs.memory_cap.empty())
    throw usage_error(where, "this machine has no memory clock to set",
                      "run ridgeline with sudo if it is a Jetson, or leave emc out");
  wanted.memory_hz =
      clock("emc", caps.memory_hz,
            knobs.memory_clock ? knobs.memory_clock->table_hz : std::vector<double>{},
            &configuration.memory);
  if (caps.cpu_hz && knobs.cpu_clocks.empty())
    throw usage_error(where, "this machine has no CPU clock to set (usual in a virtual machine)",
                      "leave cpu out");
  wanted.cpu_hz =
      clock("cpu", caps.cpu_hz,
            knobs.cpu_clocks.empty() ? std::vector<double>{} : knobs.cpu_clocks.front().table_hz,
            configuration.cpu.empty() ? nullptr : &configuration.cpu.front());
  if (caps.cpu_cores)
    wanted.cpus_on = cpus_for(knobs, device, configuration, *caps.cpu_cores, where);
  wanted.cap_w = caps.cap_w;
  if (wanted.cap_w && !knobs.has_card)
    throw usage_error(where, fmt::format("{} has no power cap to set", device.id),
                      "ask for clocks, or for a stock mode by its name");
  std::ranges::sort(wanted.notes);
  const auto twice = std::ranges::unique(wanted.notes);
  wanted.notes.erase(twice.begin(), twice.end());
  return wanted;
}

std::vector<Change> changes_to(const World& world, const Knobs& knobs, const Wanted& wanted,
                               const Original& original) {
  Collector changes(world, original, !wanted.nvpmodel);
  if (wanted.nvpmodel)
    changes.add("nvpmodel's mode", nvpmodel_mode, std::to_string(*wanted.nvpmodel));
  if (wanted.gpu_hz && knobs.gpu)
    changes.limit(*knobs.gpu, "GPU clock", *wanted.gpu_hz, wanted.locked,
                  knobs.gpu->table_hz.empty() ? *wanted.gpu_hz : knobs.gpu->table_hz.front());
  else if (wanted.gpu_hz && knobs.has_card)
    changes.add("GPU clock", card_gpu_clock, fmt::format("{:.0f}", *wanted.gpu_hz * 1e-6));
  if (wanted.memory_hz) add_memory(world, knobs, wanted, original, changes);
  if (wanted.cpu_hz)
    for (const ClockKnob& clock : knobs.cpu_clocks) {
      const bool stays = wanted.cpus_on.empty() || clock.cpus.empty() ||
                         std::ranges::any_of(clock.cpus, [&](int cpu) {
                           return std::ranges::find(wanted.cpus_on, cpu) != wanted.cpus_on.end();
                         });
      if (!stays) continue;
      const std::string name =
          knobs.cpu_clocks.size() == 1
              ? std::string("CPU clock")
              : fmt::format("CPU clock of {}",
                            trimmed(clock.folder.substr(
                                clock.folder.rfind("policy"),
                                clock.folder.size() - 1 - clock.folder.rfind("policy"))));
      const double hz = clock.table_hz.empty()
                            ? *wanted.cpu_hz
                            : *std::ranges::min_element(clock.table_hz, {}, [&](double step) {
                                return std::abs(step - *wanted.cpu_hz);
                              });
      changes.limit(clock, name, hz, wanted.locked,
                    clock.table_hz.empty() ? hz : clock.table_hz.front());
    }
  if (!wanted.cpus_on.empty())
    for (const CpuKnob& cpu : knobs.cpus) {
      const bool on =
          cpu.number == 0 || std::ranges::find(wanted.cpus_on, cpu.number) != wanted.cpus_on.end();
      if (on == cpu.is_on) continue;
      if (cpu.online.empty())
        throw Error({}, fmt::format("CPU {} cannot be switched {}", cpu.number, on ? "on" : "off"),
                    "leave cores out", ExitCode::infeasible);
      changes.add(fmt::format("CPU {}", cpu.number), cpu.online, on ? "1" : "0");
    }
  if (wanted.cap_w)
    changes.add("power limit of the card", card_power_limit,
                fmt::format("{:.0f}", *wanted.cap_w * 1e3));
  return in_order(world, changes.take());
}

std::vector<Change> in_order(const World& world, std::vector<Change> changes) {
  std::map<std::string, const Change*> by_node;
  for (const Change& change : changes) by_node[change.node] = &change;
  // Whether the maximum of this clock goes before its minimum.
  const auto maximum_first = [&](const Change& change) {
    const bool minimum = is_minimum(change.node);
    const std::string low_node = minimum ? change.node : other_limit(change.node);
    const std::string high_node = minimum ? other_limit(change.node) : change.node;
    const auto high = by_node.find(high_node);
    if (high == by_node.end()) return true;
    const auto low_now = node_number(world.read(low_node));
    const auto high_then = node_number(high->second->to);
    return !low_now || !high_then || *high_then >= *low_now;
  };
  const auto key = [&](const Change& change) {
    const bool is_limit = !other_limit(change.node).empty();
    const int switched = change.node.ends_with("/online") ? cpu_number(change.node) : 0;
    return std::tuple(rank(change),
                      is_limit ? change.node.substr(0, change.node.find_last_of('/')) : "",
                      is_limit ? int(is_minimum(change.node) == maximum_first(change)) : 0,
                      change.to == "0" ? -switched : switched);
  };
  std::vector<std::pair<decltype(key(changes.front())), Change>> keyed;
  for (const Change& change : changes) keyed.emplace_back(key(change), change);
  std::ranges::stable_sort(keyed, {}, [](const auto& pair) { return pair.first; });
  std::vector<Change> ordered;
  for (auto& [k, change] : keyed) ordered.push_back(std::move(change));
  return ordered;
}

}  // namespace ridgeline::control
