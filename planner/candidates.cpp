// A stock mode takes its place on the grid; one that lies between two clocks of the grid is added.
#include "planner/candidates.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
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
  std::set<std::size_t> taken;  // places on the grid
  const auto add_listed = [&](const DeviceMode& mode, bool stock) {
    CandidateMode listed{mode.point, reach_between(device, from, mode), stock, true};
    listed.allowed = matches(full, options.filter, mode.point);
    if (const auto place = position_of(grid, mode)) taken.insert(*place);
    result.modes.push_back(std::move(listed));
  };
  for (const DeviceMode& mode : stock_modes(device, configuration)) add_listed(mode, true);
  const DeviceMode boots = default_mode(device, configuration);
  const auto known = std::find_if(result.modes.begin(), result.modes.end(),
                                  [&](const auto& mode) { return mode.point == boots.point; });
  result.default_mode = static_cast<std::size_t>(known - result.modes.begin());
  if (known == result.modes.end()) add_listed(boots, false);
  if (!options.stock_only) {
    std::size_t place = 0;
    for_each_mode(grid, [&](const GridIndex& index) {
      if (taken.contains(place++)) return;
      const MaskGrid& mask = grid.masks[index.mask];
      CandidateMode mode{point_at(grid, index), Reach::live, false, true};
      mode.reach = reach_of(device, grid, from, mask, mode.point.cpu_cores);
      result.modes.push_back(std::move(mode));
    });
  } else {
    for (CandidateMode& mode : result.modes) mode.allowed = mode.allowed && mode.stock;
  }
  if (std::none_of(result.modes.begin(), result.modes.end(),
                   [&](const CandidateMode& mode) { return mode.is_eligible(options.reach); }))
    throw Error(device.name,
                options.stock_only ? "no stock mode is left to choose from"
                                   : "no mode is left to choose from",
                "relax --filter, --reach or --stock-only", ExitCode::infeasible);
  return result;
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
