// A stock mode takes its place on the grid; one that lies between two clocks of the grid is added.
#include "planner/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
#include "devices/modes/clock_table.h"
#include "devices/modes/mode_grid.h"

namespace ridgeline {
namespace {

double highest(const std::vector<double>& clocks) {
  return clocks.empty() ? 0 : *std::max_element(clocks.begin(), clocks.end());
}

auto clocks_of(const OperatingPoint& point) {
  return std::tuple(point.gpu_hz.value_or(0), point.memory_hz.value_or(0), highest(point.cpu_hz),
                    point.cpu_cores.value_or(0), point.gpu_units.value_or(0));
}

double log_ratio(double a, double b) { return a > 0 && b > 0 ? std::abs(std::log(a / b)) : 0; }

TunedKnobs tuned_knobs(const CandidateOptions& options) {
  TunedKnobs tuned = options.tuned;
  for (const ModeCondition& condition : options.filter) {
    if (condition.knob == ModeKnob::gpu) tuned.gpu = true;
    if (condition.knob == ModeKnob::memory) tuned.memory = true;
    if (condition.knob == ModeKnob::cpu || condition.knob == ModeKnob::cores) tuned.cpu = true;
    if (condition.knob == ModeKnob::units) tuned.units = true;
  }
  return tuned;
}

// The values of one knob: those of its axis if it is tuned, else that of the stock mode.
template <class T>
std::vector<std::optional<T>> knob_values_of(bool tuned, const std::vector<T>& axis,
                                             const std::optional<T>& stock) {
  if (!tuned || axis.empty()) return {stock};
  return {axis.begin(), axis.end()};
}

std::size_t clusters_on(const ModeGrid& grid, const std::optional<int>& cores) {
  if (!cores) return 1;
  const std::vector<int>& layout = grid.layouts[static_cast<std::size_t>(*cores)];
  return static_cast<std::size_t>(
      std::count_if(layout.begin(), layout.end(), [](int online) { return online > 0; }));
}

// Calls visit(point, base, mask) for every mode that differs from a stock mode in tuned knobs only.
template <class Visit>
void for_each_tuned(const ModeGrid& grid, const std::vector<DeviceMode>& stock,
                    const TunedKnobs& tuned, Visit visit) {
  for (const DeviceMode& base : stock)
    for (const MaskGrid& mask : grid.masks) {
      if (mask.is_empty || (!tuned.units && mask.tpc_pg_mask != base.tpc_pg_mask)) continue;
      OperatingPoint point = base.point;
      point.label.clear();
      if (tuned.units) point.gpu_units = mask.gpu_units;
      const auto cpu_clocks = knob_values_of<double>(tuned.cpu, mask.cpu_hz, std::nullopt);
      const auto cores = knob_values_of<int>(tuned.cpu, mask.cpu_cores, base.point.cpu_cores);
      for (const auto& core_count : cores)
        for (const auto& cpu_hz : cpu_clocks)
          for (const auto& gpu_hz : knob_values_of(tuned.gpu, mask.gpu_hz, base.point.gpu_hz))
            for (const auto& memory_hz :
                 knob_values_of(tuned.memory, mask.memory_hz, base.point.memory_hz)) {
              point.cpu_cores = core_count;
              point.cpu_hz = base.point.cpu_hz;
              if (cpu_hz) point.cpu_hz.assign(clusters_on(grid, core_count), *cpu_hz);
              point.gpu_hz = gpu_hz;
              point.memory_hz = memory_hz;
              visit(point, base, mask);
            }
    }
}

// More than any of the device's modes has.
void refuse_reserves(const catalog::Device& device, const std::vector<CandidateMode>& modes,
                     const CandidateOptions& options) {
  int most_cores = 0;
  double top_hz = 0;
  for (const CandidateMode& mode : modes) {
    most_cores = std::max(most_cores, mode.point.cpu_cores.value_or(options.least_cores));
    top_hz = std::max(top_hz, highest(mode.point.cpu_hz));
  }
  if (options.least_cores > most_cores)
    throw Error("--reserve-cores",
                fmt::format("{} cores and one for the network are more than the {} of {}",
                            options.least_cores - 1, most_cores, device.name),
                fmt::format("reserve at most {}", most_cores - 1), ExitCode::infeasible);
  if (top_hz > 0 && options.least_cpu_hz > top_hz)
    throw Error("--reserve-cpu",
                fmt::format("no mode of {} has a CPU clock of {}", device.name,
                            clock_text(options.least_cpu_hz)),
                fmt::format("reserve at most {}", clock_text(top_hz)), ExitCode::infeasible);
}

bool is_enough(const OperatingPoint& point, const CandidateOptions& options) {
  return point.cpu_cores.value_or(options.least_cores) >= options.least_cores &&
         (point.cpu_hz.empty() || highest(point.cpu_hz) >= options.least_cpu_hz);
}

}  // namespace

CandidateModes candidate_modes(const catalog::Device& device,
                               const catalog::Configuration& configuration, const DeviceMode& from,
                               const CandidateOptions& options) {
  const ModeGrid full = full_grid(device, configuration);
  const ModeGrid grid =
      options.filter.empty() || options.stock_only ? full : filtered(device, full, options.filter);
  CandidateModes result;
  result.notes = full.notes;
  result.reach = options.reach;
  result.kind = device.kind;
  std::set<std::size_t> taken;  // places on the grid
  std::vector<DeviceMode> listed_modes = stock_modes(device, configuration);
  const auto add_listed = [&](const DeviceMode& mode, bool stock) {
    CandidateMode listed{mode.point, reach_between(device, from, mode), stock, true, mode.id};
    listed.allowed = matches(full, options.filter, mode.point) && is_enough(mode.point, options);
    if (const auto place = position_of(grid, mode)) taken.insert(*place);
    result.modes.push_back(std::move(listed));
  };
  for (const DeviceMode& mode : listed_modes) add_listed(mode, true);
  const DeviceMode boots = default_mode(device, configuration);
  const auto known = std::find_if(result.modes.begin(), result.modes.end(),
                                  [&](const auto& mode) { return mode.point == boots.point; });
  result.default_mode = static_cast<std::size_t>(known - result.modes.begin());
  if (known == result.modes.end()) {
    add_listed(boots, false);
    listed_modes.push_back(boots);
  }
  refuse_reserves(device, result.modes, options);
  const TunedKnobs tuned = tuned_knobs(options);
  if (options.stock_only) {
    for (CandidateMode& mode : result.modes) mode.allowed = mode.allowed && mode.stock;
  } else if (tuned.all()) {
    std::size_t place = 0;
    for_each_mode(grid, [&](const GridIndex& index) {
      if (taken.contains(place++)) return;
      const MaskGrid& mask = grid.masks[index.mask];
      CandidateMode mode{point_at(grid, index), Reach::live, false, true};
      if (!is_enough(mode.point, options)) return;
      mode.reach = reach_of(device, grid, from, mask, mode.point.cpu_cores);
      result.modes.push_back(std::move(mode));
    });
  } else {
    std::set<decltype(clocks_of(from.point))> known_clocks;
    for (const CandidateMode& mode : result.modes) known_clocks.insert(clocks_of(mode.point));
    for_each_tuned(
        grid, listed_modes, tuned,
        [&](const OperatingPoint& point, const DeviceMode& base, const MaskGrid& mask) {
          if (!is_enough(point, options) || !known_clocks.insert(clocks_of(point)).second) return;
          DeviceMode to = base;
          to.tpc_pg_mask = mask.tpc_pg_mask;
          to.fbp_pg_mask = mask.fbp_pg_mask;
          const Reach reach = tuned.cpu ? reach_of(device, grid, from, mask, point.cpu_cores)
                                        : reach_between(device, from, to);
          result.modes.push_back({point, reach, false});
        });
  }
  if (std::none_of(result.modes.begin(), result.modes.end(),
                   [&](const CandidateMode& mode) { return mode.is_eligible(options.reach); }))
    throw Error(device.name,
                options.stock_only ? "no stock mode is left to choose from"
                                   : "no mode is left to choose from",
                "relax --filter, --reach, --reserve-cores, --reserve-cpu or --stock-only",
                ExitCode::infeasible);
  return result;
}

std::string enter_command(const CandidateModes& modes, const CandidateMode& mode) {
  if (modes.kind == catalog::Kind::jetson && mode.id)
    return fmt::format("sudo nvpmodel -m {} && sudo jetson_clocks", *mode.id);
  if (modes.kind == catalog::Kind::gpu && mode.point.label.empty() && mode.point.gpu_hz)
    return fmt::format("sudo nvidia-smi -lgc {:.0f}", *mode.point.gpu_hz / 1e6);
  return {};
}

CandidateModes single_mode(const OperatingPoint& point) {
  CandidateModes result;
  result.modes.push_back({point, Reach::live, false, true});
  result.default_mode = 0;
  return result;
}

std::string mode_name(const OperatingPoint& point) {
  return point.label.empty() ? request_text(point) : point.label;
}

bool has_lower_clocks(const OperatingPoint& a, const OperatingPoint& b) {
  return clocks_of(a) < clocks_of(b);
}

bool is_near(const OperatingPoint& a, const OperatingPoint& b) {
  const double most = std::log(1.15);
  return a.gpu_units == b.gpu_units &&
         std::abs(a.cpu_cores.value_or(0) - b.cpu_cores.value_or(0)) <= 2 &&
         log_ratio(a.gpu_hz.value_or(0), b.gpu_hz.value_or(0)) <= most &&
         log_ratio(a.memory_hz.value_or(0), b.memory_hz.value_or(0)) <= most &&
         log_ratio(highest(a.cpu_hz), highest(b.cpu_hz)) <= most;
}

std::optional<std::size_t> nearest_stock(const CandidateModes& modes, const OperatingPoint& point) {
  constexpr double other_units = 100;  // before all clocks together
  std::optional<std::size_t> nearest;
  double least = 0;
  for (std::size_t i = 0; i < modes.modes.size(); ++i) {
    if (!modes.modes[i].stock) continue;
    const OperatingPoint& stock = modes.modes[i].point;
    const double distance = log_ratio(point.gpu_hz.value_or(0), stock.gpu_hz.value_or(0)) +
                            log_ratio(point.memory_hz.value_or(0), stock.memory_hz.value_or(0)) +
                            log_ratio(highest(point.cpu_hz), highest(stock.cpu_hz)) +
                            log_ratio(point.cpu_cores.value_or(0), stock.cpu_cores.value_or(0)) +
                            (point.gpu_units == stock.gpu_units ? 0 : other_units);
    if (nearest && distance >= least) continue;
    nearest = i;
    least = distance;
  }
  return nearest;
}

}  // namespace ridgeline
