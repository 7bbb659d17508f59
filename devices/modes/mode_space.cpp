// Turns stock modes and requests into clock vectors by the clock tables of a configuration.
// The tables are in the catalog; mode_grid.cpp makes the product of all of them.
#include "devices/modes/mode_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/csv.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "devices/modes/clock_table.h"
#include "devices/nvpmodel/configuration.h"

namespace ridgeline {
namespace {

using catalog::ClockDomain;
using catalog::Configuration;
using catalog::Device;
using catalog::StockMode;

// A cap as a mode writes it, held against the ceiling: no clamp reaches the ceiling, and a cap
// above it is limited by the firmware.
std::optional<double> capped_clock(const ClockDomain& domain, std::optional<double> cap,
                                   bool zero_is_unclamped, const char* knob, DeviceMode& mode,
                                   std::optional<ClockLimit>& limit) {
  if (!cap) return std::nullopt;
  const std::optional<double> ceiling = ceiling_clock(domain);
  const bool unclamped = *cap < 0 || (zero_is_unclamped && *cap == 0);
  if (unclamped) {
    limit = ClockLimit::bpmp;
    if (!ceiling)
      mode.notes.push_back(fmt::format("{}: not clamped, and no source states the ceiling", knob));
    return ceiling;
  }
  if (ceiling && *cap > *ceiling && !same_clock(*cap, *ceiling)) {
    limit = ClockLimit::bpmp;
    mode.notes.push_back(fmt::format("{}: the mode allows {}, the firmware's limit is {}", knob,
                                     clock_text(*cap), clock_text(*ceiling)));
    return ceiling;
  }
  limit = ceiling && same_clock(*cap, *ceiling) ? ClockLimit::bpmp : ClockLimit::nvpmodel;
  const auto [below, above] = neighbours(domain, *cap);
  if (below && above && *below != *above)
    mode.between_steps.push_back(
        fmt::format("{}: {} lies between the steps {} and {}, the board rounds it", knob,
                    clock_text(*cap), clock_text(*below), clock_text(*above)));
  return cap;
}

// Clusters are mostly alike, and one note for all of them is enough.
void tell_once(std::vector<std::string>& notes) {
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
}

bool is_online(const std::vector<int>& cores, std::size_t cluster) {
  return cores.empty() || (cluster < cores.size() && cores[cluster] > 0);
}

// SMs that some stock mode states for the same mask.
std::optional<int> stated_multiprocessors(const Configuration& configuration,
                                          std::optional<std::uint32_t> mask) {
  for (const StockMode& mode : configuration.modes)
    if (mode.tpc_pg_mask == mask && mode.multiprocessors) return mode.multiprocessors;
  return std::nullopt;
}

std::optional<int> units_of(const Device& device, const Configuration& configuration,
                            std::optional<std::uint32_t> mask) {
  if (!device.gpu) return std::nullopt;
  const auto counted = multiprocessors_on(*device.gpu, mask);
  return counted ? counted : stated_multiprocessors(configuration, mask);
}

void set_cap_of_power(const Device& device, double cap_w, const std::string& where,
                      OperatingPoint& point) {
  if (device.kind == catalog::Kind::jetson)
    throw usage_error(where, fmt::format("{} has no power cap to set", device.id),
                      "ask for clocks, or for a stock mode by its name");
  if (device.power_caps.empty())
    throw usage_error(where, fmt::format("no source states the power cap of {}", device.id));
  const double limit = device.power_caps.front().value.value;
  if (cap_w > limit)
    throw usage_error(where, fmt::format("a cap of {} W is above the {} W of {}", csv_number(cap_w),
                                         csv_number(limit), device.id));
  const auto least = std::min_element(
      device.idle.begin(), device.idle.end(),
      [](const auto& a, const auto& b) { return a.power_w.value < b.power_w.value; });
  if (least != device.idle.end() && cap_w < least->power_w.value)
    throw usage_error(
        where, fmt::format("a cap of {} W is below the {} W that {} takes idle", csv_number(cap_w),
                           csv_number(least->power_w.value), device.id));
  point.cap_w = cap_w;
}

const StockMode* find_stock(const Configuration& configuration, const std::string& word) {
  const std::string_view wanted = nvpmodel::label_of(word);
  for (const StockMode& mode : configuration.modes)
    if (same_name(nvpmodel::label_of(mode.name), wanted)) return &mode;
  int id = -1;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), id);
  if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) return nullptr;
  for (const StockMode& mode : configuration.modes)
    if (mode.id == id) return &mode;
  return nullptr;
}

[[noreturn]] void fail_unknown_mode(const Device& device, const Configuration& configuration,
                                    const std::string& word, const std::string& where) {
  std::vector<std::string> labels;
  for (const StockMode& mode : configuration.modes)
    labels.emplace_back(nvpmodel::label_of(mode.name));
  const std::string what = fmt::format("{} has no mode {}", device.id, quote(word));
  if (labels.empty())
    throw usage_error(where, what, "it has no named modes: write caps such as gpu=1GHz");
  const auto guess = nearest(word, labels);
  throw usage_error(where, what,
                    fmt::format("{}it has {}", guess ? "did you mean " + *guess + "? " : "",
                                fmt::join(labels, ", ")));
}

// The mask that leaves `units` SMs on, or the most of them; with the FBP mask of the same mode.
void choose_mask(const Device& device, const Configuration& configuration, std::optional<int> units,
                 const std::string& where, DeviceMode& mode) {
  std::vector<int> known;
  std::optional<int> best;
  for (const StockMode& stock : configuration.modes) {
    const auto on = units_of(device, configuration, stock.tpc_pg_mask);
    if (!on) continue;
    known.push_back(*on);
    if ((units && *on != *units) || (best && *on <= *best)) continue;
    best = on;
    mode.tpc_pg_mask = stock.tpc_pg_mask;
    mode.fbp_pg_mask = stock.fbp_pg_mask;
  }
  if (known.empty() && device.gpu && device.gpu->multiprocessors) {
    known.push_back(static_cast<int>(device.gpu->multiprocessors->value));
    if (!units || *units == known.front()) best = known.front();
  }
  if (units && !best) {
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    throw usage_error(where, fmt::format("{} has no mode with {} SMs", device.id, *units),
                      known.empty() ? "no source states how many SMs its masks leave on"
                                    : fmt::format("it has {}", fmt::join(known, ", ")));
  }
  mode.point.gpu_units = best;
}

void choose_cores(const Device& device, const Configuration& configuration,
                  std::optional<int> wanted, const std::string& where, DeviceMode& mode) {
  const std::optional<int> total = core_count(device, configuration);
  if (wanted && total && *wanted > *total)
    throw usage_error(where, fmt::format("cores={}: {} has {} cores", *wanted, device.id, *total));
  mode.point.cpu_cores = wanted ? wanted : total;
  if (mode.point.cpu_cores && total)
    mode.cores = cores_per_cluster(device, configuration, *mode.point.cpu_cores);
}

DeviceMode resolve_caps(const Device& device, const Configuration& configuration,
                        const ModeRequest& request, const std::string& where) {
  DeviceMode mode;
  choose_mask(device, configuration, request.gpu_units, where, mode);
  choose_cores(device, configuration, request.cpu_cores, where, mode);
  OperatingPoint& point = mode.point;
  const auto choose = [&](const ClockDomain& domain, std::optional<double> wanted, const char* knob,
                          std::optional<ClockLimit>& limit) {
    const std::optional<double> ceiling = ceiling_clock(domain);
    std::optional<double> clock = ceiling;
    if (wanted) clock = lockable_clock(domain, *wanted, {device.id, knob, where}, mode.notes);
    if (ceiling && clock)
      limit = same_clock(*clock, *ceiling) ? ClockLimit::bpmp : ClockLimit::nvpmodel;
    return clock;
  };
  point.gpu_hz = choose(configuration.gpu, request.gpu_hz, "gpu", mode.gpu_limit);
  point.memory_hz = choose(configuration.memory, request.memory_hz, "emc", mode.memory_limit);
  for (std::size_t cluster = 0; cluster < configuration.cpu.size(); ++cluster) {
    if (!is_online(mode.cores, cluster)) continue;
    std::optional<ClockLimit> limit;
    const auto clock = choose(configuration.cpu[cluster], request.cpu_hz, "cpu", limit);
    if (!mode.cpu_limit) mode.cpu_limit = limit;
    if (clock) point.cpu_hz.push_back(*clock);
  }
  tell_once(mode.notes);
  if (request.cpu_hz && configuration.cpu.empty())
    throw usage_error(where, fmt::format("no source states the CPU clocks of {}", device.id));
  if (request.cap_w) set_cap_of_power(device, *request.cap_w, where, point);
  if (device.kind != catalog::Kind::jetson)
    mode.gpu_limit = mode.memory_limit = mode.cpu_limit = std::nullopt;
  return mode;
}

}  // namespace

std::optional<int> multiprocessors_on(const catalog::GpuSpec& gpu,
                                      std::optional<std::uint32_t> tpc_pg_mask) {
  if (!tpc_pg_mask) {
    if (!gpu.multiprocessors) return std::nullopt;
    return static_cast<int>(gpu.multiprocessors->value);
  }
  if (!gpu.mask_tpcs || !gpu.multiprocessors_per_tpc) return std::nullopt;
  const int tpcs = static_cast<int>(gpu.mask_tpcs->value);
  const std::uint32_t meaning = tpcs >= 32 ? ~0U : (1U << tpcs) - 1;
  const int off = std::popcount(*tpc_pg_mask & meaning);
  return static_cast<int>(gpu.multiprocessors_per_tpc->value) * (tpcs - off);
}

DeviceMode device_mode(const Device& device, const Configuration& configuration,
                       const StockMode& stock) {
  DeviceMode mode;
  mode.id = stock.id;
  mode.budget_w = stock.budget_w;
  mode.tpc_pg_mask = stock.tpc_pg_mask;
  mode.fbp_pg_mask = stock.fbp_pg_mask;
  mode.cores = stock.cores;
  OperatingPoint& point = mode.point;
  point.label = nvpmodel::label_of(stock.name);
  point.gpu_units = stock.multiprocessors ? stock.multiprocessors
                                          : units_of(device, configuration, stock.tpc_pg_mask);
  if (!point.gpu_units && device.gpu)
    mode.notes.emplace_back("sm: no source states how many SMs the mask leaves on");
  if (!stock.cores.empty())
    point.cpu_cores = std::accumulate(stock.cores.begin(), stock.cores.end(), 0);
  point.gpu_hz =
      capped_clock(configuration.gpu, stock.gpu_max_hz, false, "gpu", mode, mode.gpu_limit);
  point.memory_hz =
      capped_clock(configuration.memory, stock.memory_max_hz, true, "emc", mode, mode.memory_limit);
  for (std::size_t cluster = 0; cluster < configuration.cpu.size(); ++cluster) {
    if (!is_online(stock.cores, cluster) || cluster >= stock.cpu_max_hz.size()) continue;
    std::optional<ClockLimit> limit;
    const auto clock = capped_clock(configuration.cpu[cluster], stock.cpu_max_hz[cluster], false,
                                    "cpu", mode, limit);
    if (!mode.cpu_limit) mode.cpu_limit = limit;
    if (clock) point.cpu_hz.push_back(*clock);
  }
  tell_once(mode.notes);
  tell_once(mode.between_steps);
  return mode;
}

std::vector<DeviceMode> stock_modes(const Device& device, const Configuration& configuration) {
  std::vector<DeviceMode> modes;
  modes.reserve(configuration.modes.size());
  for (const StockMode& stock : configuration.modes)
    modes.push_back(device_mode(device, configuration, stock));
  if (modes.empty()) return modes;
  const DeviceMode from = default_mode(device, configuration);
  for (DeviceMode& mode : modes) mode.reach = reach_between(device, from, mode);
  return modes;
}

DeviceMode default_mode(const Device& device, const Configuration& configuration) {
  for (const StockMode& stock : configuration.modes)
    if (stock.id == configuration.default_mode) return device_mode(device, configuration, stock);
  if (!configuration.modes.empty())
    return device_mode(device, configuration, configuration.modes.front());
  DeviceMode mode = resolve_caps(device, configuration, {}, {});
  mode.point.label = "default";
  if (!device.power_caps.empty()) mode.point.cap_w = device.power_caps.front().value.value;
  return mode;
}

std::optional<double> stated_power_w(const DeviceMode& mode) {
  return mode.budget_w ? mode.budget_w : mode.point.cap_w;
}

DeviceMode resolve(const Device& device, const Configuration& configuration,
                   const ModeRequest& request, const std::string& where) {
  DeviceMode mode;
  if (const StockMode* stock =
          request.label.empty() ? nullptr : find_stock(configuration, request.label)) {
    mode = device_mode(device, configuration, *stock);
  } else if (request.label.empty() || (configuration.modes.empty() && request.cap_w)) {
    mode = resolve_caps(device, configuration, request, where);
    mode.point.label = request.label.empty() ? request_text(mode.point) : request.label;
  } else {
    fail_unknown_mode(device, configuration, request.label, where);
  }
  mode.reach = reach_between(device, default_mode(device, configuration), mode);
  return mode;
}

DeviceMode named_mode(const Device& device, const Configuration& configuration,
                      const std::string& text, const char* option) {
  return resolve(device, configuration, parse_mode_request(text, option), option);
}

Reach reach_between(const Device& device, const DeviceMode& from, const DeviceMode& to) {
  if (from.tpc_pg_mask != to.tpc_pg_mask || from.fbp_pg_mask != to.fbp_pg_mask)
    return Reach::reboot;
  if (device.cluster_switch && device.cluster_switch->reach == Reach::live) return Reach::live;
  const std::size_t clusters = std::min(from.cores.size(), to.cores.size());
  for (std::size_t cluster = 0; cluster < clusters; ++cluster)
    if ((from.cores[cluster] > 0) != (to.cores[cluster] > 0)) return Reach::reboot;
  return Reach::live;
}

std::optional<int> core_count(const Device& device, const Configuration& configuration) {
  int total = 0;
  bool known = !device.cpu.empty();
  for (const catalog::CpuCluster& cluster : device.cpu) {
    known = known && cluster.cores.has_value();
    if (cluster.cores) total += static_cast<int>(cluster.cores->value);
  }
  if (known) return total;
  int most = 0;
  for (const StockMode& mode : configuration.modes)
    most = std::max(most, std::accumulate(mode.cores.begin(), mode.cores.end(), 0));
  return most > 0 ? std::optional<int>(most) : std::nullopt;
}

std::vector<int> cores_per_cluster(const Device& device, const Configuration& configuration,
                                   int count) {
  std::vector<std::size_t> order(device.cpu.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Not by number: TX2's Denver cores are cpu1 and cpu2 and go before the others.
  const auto goes_first = [&](std::size_t cluster) {
    return std::any_of(configuration.modes.begin(), configuration.modes.end(),
                       [&](const StockMode& mode) { return !is_online(mode.cores, cluster); });
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return !goes_first(a) && goes_first(b); });
  std::vector<int> cores(device.cpu.size(), 0);
  for (const std::size_t cluster : order) {
    const auto& stated = device.cpu[cluster].cores;
    const int room = stated ? static_cast<int>(stated->value) : count;
    cores[cluster] = std::min(room, count);
    count -= cores[cluster];
  }
  return cores;
}

std::string request_text(const OperatingPoint& point) {
  ModeRequest request;
  request.gpu_hz = point.gpu_hz;
  request.memory_hz = point.memory_hz;
  if (!point.cpu_hz.empty()) request.cpu_hz = point.cpu_hz.front();
  request.cpu_cores = point.cpu_cores;
  request.gpu_units = point.gpu_units;
  return to_text(request);
}

}  // namespace ridgeline
