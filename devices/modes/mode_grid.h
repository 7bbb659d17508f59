// All modes of a device: every combination of lockable clocks and core counts, per TPC mask.
// Kept as axes, so that counting and filtering cost nothing; points are made on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mode_request.h"
#include "base/operating_point.h"
#include "devices/modes/mode_space.h"

namespace ridgeline {

// The modes that share a mask. An axis without values is a knob that no source knows: points leave
// it out.
struct MaskGrid {
  std::optional<std::uint32_t> tpc_pg_mask;
  std::optional<std::uint32_t> fbp_pg_mask;
  std::optional<int> gpu_units;
  std::vector<double> gpu_hz;  // ascending, as all of them
  std::vector<double> memory_hz;
  std::vector<double> cpu_hz;  // of all clusters that are online
  std::vector<int> cpu_cores;

  bool is_empty = false;  // a filter left nothing

  std::size_t size() const;
};

struct ModeGrid {
  std::vector<MaskGrid> masks;            // most SMs first
  std::vector<std::vector<int>> layouts;  // cores per cluster, by number of cores online
  bool is_complete = true;                // false: knobs have steps that no source states
  bool is_inferred = false;               // some steps are reasoned, not seen
  std::vector<std::string> notes;         // what is inferred or not known

  std::size_t size() const;
};

// The masks are those of the stock modes: others are not known to work.
ModeGrid full_grid(const catalog::Device& device, const catalog::Configuration& configuration);

// One mode of a grid: positions on its axes.
struct GridIndex {
  std::size_t mask = 0, cores = 0, cpu = 0, gpu = 0, memory = 0;
};

// Calls visit(GridIndex) for every mode: by mask, cores, CPU, GPU, and memory clock fastest.
template <class Visit>
void for_each_mode(const ModeGrid& grid, Visit visit) {
  const auto steps = [](const auto& axis) { return axis.empty() ? std::size_t{1} : axis.size(); };
  for (std::size_t mask = 0; mask < grid.masks.size(); ++mask) {
    const MaskGrid& axes = grid.masks[mask];
    if (axes.is_empty) continue;
    for (std::size_t cores = 0; cores < steps(axes.cpu_cores); ++cores)
      for (std::size_t cpu = 0; cpu < steps(axes.cpu_hz); ++cpu)
        for (std::size_t gpu = 0; gpu < steps(axes.gpu_hz); ++gpu)
          for (std::size_t memory = 0; memory < steps(axes.memory_hz); ++memory)
            visit(GridIndex{mask, cores, cpu, gpu, memory});
  }
}

OperatingPoint point_at(const ModeGrid& grid, const GridIndex& index);  // without a label

// How many modes for_each_mode() visits before this one; nullopt if the grid lacks it.
std::optional<std::size_t> position_of(const ModeGrid& grid, const DeviceMode& mode);

std::vector<OperatingPoint> grid_points(const ModeGrid& grid);

// Whether a mode of this mask and number of cores can be entered without a reboot.
Reach reach_of(const catalog::Device& device, const ModeGrid& grid, const DeviceMode& from,
               const MaskGrid& mask, std::optional<int> cores);

}  // namespace ridgeline
