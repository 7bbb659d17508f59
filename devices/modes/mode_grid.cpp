// Builds the axes from the clock tables and the masks of the stock modes.
// Clusters of one device share a table in all devices known; the first cluster's is taken.
#include "devices/modes/mode_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "devices/modes/clock_table.h"

namespace ridgeline {
namespace {

using catalog::Configuration;
using catalog::Device;

bool is_reasoned(const Device& device, const std::string& source) {
  const catalog::Confidence confidence = catalog::reference(device, source).confidence;
  return confidence == catalog::Confidence::inferred || confidence == catalog::Confidence::assumed;
}

std::vector<double> axis(const Device& device, const catalog::ClockDomain& domain, const char* knob,
                         ModeGrid& grid) {
  const auto inferred =
      std::count_if(domain.steps.begin(), domain.steps.end(),
                    [&](const auto& step) { return is_reasoned(device, step.source); });
  if (inferred > 0) {
    grid.is_inferred = true;
    const bool all = static_cast<std::size_t>(inferred) == domain.steps.size();
    grid.notes.push_back(
        all ? fmt::format("{} clocks of this board are inferred, not published", knob)
            : fmt::format("{}: {} of {} clock steps are inferred, not published", knob, inferred,
                          domain.steps.size()));
  }
  std::vector<double> clocks = lockable_clocks(domain);
  if (!domain.complete) {
    grid.is_complete = false;
    grid.notes.push_back(
        clocks.empty() ? fmt::format("{}: no source states its clocks", knob)
                       : fmt::format("{}: {} {} known, there may be more", knob, clocks.size(),
                                     clocks.size() == 1 ? "step is" : "steps are"));
  }
  return clocks;
}

void add_masks(const std::vector<DeviceMode>& modes, const DeviceMode& otherwise, ModeGrid& grid,
               const MaskGrid& axes) {
  const auto add = [&](const DeviceMode& mode) {
    const auto same = [&](const MaskGrid& known) {
      return known.tpc_pg_mask == mode.tpc_pg_mask && known.fbp_pg_mask == mode.fbp_pg_mask;
    };
    const auto known = std::find_if(grid.masks.begin(), grid.masks.end(), same);
    if (known != grid.masks.end()) {
      if (!known->gpu_units) known->gpu_units = mode.point.gpu_units;
      return;
    }
    MaskGrid mask = axes;
    mask.tpc_pg_mask = mode.tpc_pg_mask;
    mask.fbp_pg_mask = mode.fbp_pg_mask;
    mask.gpu_units = mode.point.gpu_units;
    grid.masks.push_back(std::move(mask));
  };
  for (const DeviceMode& mode : modes) add(mode);
  if (grid.masks.empty()) add(otherwise);
  std::stable_sort(grid.masks.begin(), grid.masks.end(), [](const MaskGrid& a, const MaskGrid& b) {
    return a.gpu_units.value_or(0) > b.gpu_units.value_or(0);
  });
}

// One axis further into the order of for_each_mode(); false if the axis lacks the value.
template <class T>
bool step_into(const std::vector<T>& values, const std::optional<T>& value, std::size_t& position) {
  if (values.empty()) return true;
  const auto found = value ? std::find(values.begin(), values.end(), *value) : values.end();
  position = position * values.size() + static_cast<std::size_t>(found - values.begin());
  return found != values.end();
}

}  // namespace

std::size_t MaskGrid::size() const {
  if (is_empty) return 0;
  const auto steps = [](const auto& values) { return std::max<std::size_t>(values.size(), 1); };
  return steps(gpu_hz) * steps(memory_hz) * steps(cpu_hz) * steps(cpu_cores);
}

std::size_t ModeGrid::size() const {
  return std::accumulate(masks.begin(), masks.end(), std::size_t{0},
                         [](std::size_t sum, const MaskGrid& mask) { return sum + mask.size(); });
}

ModeGrid full_grid(const Device& device, const Configuration& configuration) {
  ModeGrid grid;
  MaskGrid axes;
  if (const auto total = core_count(device, configuration)) {
    for (int cores = 0; cores <= *total; ++cores)
      grid.layouts.push_back(cores_per_cluster(device, configuration, cores));
    axes.cpu_cores.resize(static_cast<std::size_t>(*total));
    std::iota(axes.cpu_cores.begin(), axes.cpu_cores.end(), 1);
  }
  if (!configuration.cpu.empty())
    axes.cpu_hz = axis(device, configuration.cpu.front(), "cpu", grid);
  if (device.gpu) axes.gpu_hz = axis(device, configuration.gpu, "gpu", grid);
  axes.memory_hz = axis(device, configuration.memory, "emc", grid);
  add_masks(stock_modes(device, configuration), default_mode(device, configuration), grid, axes);
  return grid;
}

OperatingPoint point_at(const ModeGrid& grid, const GridIndex& index) {
  const MaskGrid& axes = grid.masks[index.mask];
  OperatingPoint point;
  point.gpu_units = axes.gpu_units;
  if (!axes.gpu_hz.empty()) point.gpu_hz = axes.gpu_hz[index.gpu];
  if (!axes.memory_hz.empty()) point.memory_hz = axes.memory_hz[index.memory];
  std::size_t clusters = 1;
  if (!axes.cpu_cores.empty()) {
    point.cpu_cores = axes.cpu_cores[index.cores];
    const std::vector<int>& layout = grid.layouts[static_cast<std::size_t>(*point.cpu_cores)];
    clusters = static_cast<std::size_t>(
        std::count_if(layout.begin(), layout.end(), [](int cores) { return cores > 0; }));
  }
  if (!axes.cpu_hz.empty()) point.cpu_hz.assign(clusters, axes.cpu_hz[index.cpu]);
  return point;
}

std::optional<std::size_t> position_of(const ModeGrid& grid, const DeviceMode& mode) {
  const OperatingPoint& point = mode.point;
  std::optional<double> cpu_hz;
  if (!point.cpu_hz.empty()) {
    if (std::count(point.cpu_hz.begin(), point.cpu_hz.end(), point.cpu_hz.front()) !=
        static_cast<std::ptrdiff_t>(point.cpu_hz.size()))
      return std::nullopt;
    cpu_hz = point.cpu_hz.front();
  }
  std::size_t before = 0;
  for (const MaskGrid& mask : grid.masks) {
    if (mask.is_empty || mask.tpc_pg_mask != mode.tpc_pg_mask ||
        mask.fbp_pg_mask != mode.fbp_pg_mask) {
      before += mask.size();
      continue;
    }
    std::size_t position = 0;
    const bool found = step_into(mask.cpu_cores, point.cpu_cores, position) &&
                       step_into(mask.cpu_hz, cpu_hz, position) &&
                       step_into(mask.gpu_hz, point.gpu_hz, position) &&
                       step_into(mask.memory_hz, point.memory_hz, position);
    return found ? std::optional<std::size_t>(before + position) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<OperatingPoint> grid_points(const ModeGrid& grid) {
  std::vector<OperatingPoint> points;
  points.reserve(grid.size());
  for_each_mode(grid, [&](const GridIndex& index) { points.push_back(point_at(grid, index)); });
  return points;
}

Reach reach_of(const Device& device, const ModeGrid& grid, const DeviceMode& from,
               const MaskGrid& mask, std::optional<int> cores) {
  DeviceMode to;
  to.tpc_pg_mask = mask.tpc_pg_mask;
  to.fbp_pg_mask = mask.fbp_pg_mask;
  if (cores) to.cores = grid.layouts[static_cast<std::size_t>(*cores)];
  return reach_between(device, from, to);
}

}  // namespace ridgeline
