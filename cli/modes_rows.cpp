// Rows are put together from the cells of their axes.
// A mode that a stock mode equals bears its name.
#include "cli/modes_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.h"

namespace ridgeline::cli {
namespace {

using Cells = std::vector<std::string>;

// Text of every value, by mask where it depends on it. Cells of an unknown knob are one each.
struct GridCells {
  Cells mask;                // TPC_PG_MASK
  Cells units;               //
  std::vector<Cells> reach;  // by mask and cores
  Cells cores, cpu, gpu, memory;
  std::vector<Cells> cpu_array;  // by cores and CPU clock: one value per cluster
};

template <class T, class Text>
Cells cells_of(const std::vector<T>& axis, Text text, const char* unknown) {
  Cells cells;
  for (const T& value : axis) cells.push_back(text(value));
  if (cells.empty()) cells.emplace_back(unknown);
  return cells;
}

template <class Clock>
GridCells grid_cells(const ModesListing& listing, Clock clock, const char* unknown) {
  GridCells cells;
  const ModeGrid& grid = listing.grid;
  const auto number = [](const auto& value) { return std::to_string(value); };
  for (const MaskGrid& mask : grid.masks) {
    cells.mask.push_back(mask.tpc_pg_mask ? number(*mask.tpc_pg_mask) : unknown);
    cells.units.push_back(mask.gpu_units ? number(*mask.gpu_units) : unknown);
    Cells reach;
    for (const int cores : mask.cpu_cores)
      reach.emplace_back(to_string(reach_of(listing.device, grid, listing.from, mask, cores)));
    if (reach.empty())
      reach.emplace_back(
          to_string(reach_of(listing.device, grid, listing.from, mask, std::nullopt)));
    cells.reach.push_back(std::move(reach));
  }
  // A filter by SMs empties whole masks and leaves the axes alone: all masks share them.
  const MaskGrid& axes = grid.masks.front();
  cells.cores = cells_of(axes.cpu_cores, number, unknown);
  cells.cpu = cells_of(axes.cpu_hz, clock, unknown);
  cells.gpu = cells_of(axes.gpu_hz, clock, unknown);
  cells.memory = cells_of(axes.memory_hz, clock, unknown);
  for (std::size_t cores = 0; cores < cells.cores.size(); ++cores) {
    Cells arrays;
    for (std::size_t cpu = 0; cpu < cells.cpu.size(); ++cpu) {
      std::string array;
      for (const double hz : point_at(grid, {0, cores, cpu, 0, 0}).cpu_hz)
        array += (array.empty() ? "" : ", ") + clock(hz);
      arrays.push_back("[" + array + "]");
    }
    cells.cpu_array.push_back(std::move(arrays));
  }
  return cells;
}

// Names of stock modes by their place among all modes.
std::map<std::size_t, std::string> names_by_position(const ModesListing& listing) {
  std::map<std::size_t, std::string> names;
  for (const DeviceMode& mode : listing.stock)
    if (const auto position = position_of(listing.grid, mode))
      names.emplace(*position, mode.point.label);
  return names;
}

// Calls row(index, name) for every mode, in order.
template <class Row>
void for_each_row(const ModesListing& listing, Row row) {
  const auto names = names_by_position(listing);
  const std::string none;
  auto next = names.begin();
  std::size_t position = 0;
  for_each_mode(listing.grid, [&](const GridIndex& index) {
    const bool is_named = next != names.end() && next->first == position;
    row(index, is_named ? next->second : none);
    if (is_named) ++next;
    ++position;
  });
}

// Every cell as wide as the widest, numbers to the right.
std::size_t pad(Cells& cells, std::string_view title) {
  std::size_t width = title.size();
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  for (std::string& cell : cells) cell.insert(0, width - cell.size(), ' ');
  return width;
}

}  // namespace

std::string megahertz(std::optional<double> hz) { return hz ? csv_number(*hz / 1e6) : ""; }

std::string hertz(double hz) {
  return hz == std::floor(hz) ? fmt::format("{:.0f}", hz) : csv_number(hz);
}

std::string grid_text(const ModesListing& listing) {
  GridCells cells = grid_cells(
      listing, [](double hz) { return csv_number(hz / 1e6); }, "?");
  std::size_t name_width = 4;
  for (const DeviceMode& mode : listing.stock)
    name_width = std::max(name_width, mode.point.label.size());
  std::string text = fmt::format("{:<{}}", "mode", name_width);
  const auto head = [&](Cells& column, std::string_view title) {
    text += fmt::format("  {:>{}}", title, pad(column, title));
  };
  head(cells.units, "SMs");
  head(cells.gpu, "GPU MHz");
  head(cells.memory, "EMC MHz");
  head(cells.cpu, "CPU MHz");
  head(cells.cores, "cores");
  text += "  reach\n";
  for_each_row(listing, [&](const GridIndex& index, const std::string& name) {
    text.append(name).append(name_width - name.size(), ' ');
    for (const std::string* cell :
         {&cells.units[index.mask], &cells.gpu[index.gpu], &cells.memory[index.memory],
          &cells.cpu[index.cpu], &cells.cores[index.cores]})
      text.append("  ").append(*cell);
    text.append("  ").append(cells.reach[index.mask][index.cores]).append("\n");
  });
  return text;
}

std::string grid_csv(const ModesListing& listing) {
  const GridCells cells = grid_cells(listing, hertz, "");
  std::string text;
  for_each_row(listing, [&](const GridIndex& index, const std::string& name) {
    text.append(csv_field(name));
    for (const std::string* cell :
         {&cells.mask[index.mask], &cells.units[index.mask], &cells.gpu[index.gpu],
          &cells.memory[index.memory], &cells.cpu[index.cpu], &cells.cores[index.cores]})
      text.append(",").append(*cell);
    text.append(",,").append(cells.reach[index.mask][index.cores]).append("\n");
  });
  return text;
}

std::string grid_json(const ModesListing& listing) {
  const GridCells cells = grid_cells(listing, hertz, "null");
  std::string text;
  for_each_row(listing, [&](const GridIndex& index, const std::string& name) {
    text.append(text.empty() ? "" : ",\n").append(R"(    {"name": ")").append(name);
    text.append(R"(", "tpc_pg_mask": )").append(cells.mask[index.mask]);
    text.append(R"(, "gpu_units": )").append(cells.units[index.mask]);
    text.append(R"(, "gpu_hz": )").append(cells.gpu[index.gpu]);
    text.append(R"(, "memory_hz": )").append(cells.memory[index.memory]);
    text.append(R"(, "cpu_hz": )").append(cells.cpu_array[index.cores][index.cpu]);
    text.append(R"(, "cpu_cores": )").append(cells.cores[index.cores]);
    text.append(R"(, "cap_w": null, "reach": ")").append(cells.reach[index.mask][index.cores]);
    text.append("\"}");
  });
  return text;
}

}  // namespace ridgeline::cli
