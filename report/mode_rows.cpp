// Rows are put together from the cells of their axes.
// A mode that a stock mode equals bears its name.
#include "report/mode_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/csv.h"

namespace ridgeline {
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

// What sets a stock mode apart from the others of the grid.
struct NameCells {
  std::string name;
  std::string cap_w;
};

// Calls row(index, cells of the name), which appends to `text`, for every mode, in order. Memory
// for all rows is asked for once the first is known: a text of megabytes that grows is copied again
// and again.
template <class Row>
void for_each_row(const ModesListing& listing, const char* no_cap, std::string& text, Row row) {
  std::map<std::size_t, NameCells> named;  // by place among all modes
  for (const DeviceMode& mode : listing.stock)
    if (const auto position = position_of(listing.grid, mode)) {
      const auto cap_w = stated_power_w(mode);
      named.emplace(*position, NameCells{mode.point.label, cap_w ? csv_number(*cap_w) : no_cap});
    }
  const NameCells nameless{"", no_cap};
  auto next = named.begin();
  std::size_t position = 0;
  const std::size_t begin = text.size();
  for_each_mode(listing.grid, [&](const GridIndex& index) {
    const bool is_named = next != named.end() && next->first == position;
    row(index, is_named ? next->second : nameless);
    if (is_named) ++next;
    if (position++ == 0) text.reserve(begin + 3 * (text.size() - begin) / 2 * listing.grid.size());
  });
}

// Every cell as wide as the widest, numbers to the right.
std::size_t pad(Cells& cells, std::string_view title) {
  std::size_t width = title.size();
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  for (std::string& cell : cells) cell.insert(0, width - cell.size(), ' ');
  return width;
}

template <class Text>
std::string cpu_text(const OperatingPoint& point, Text clock) {
  std::string text;
  const bool alike = std::all_of(point.cpu_hz.begin(), point.cpu_hz.end(),
                                 [&](double hz) { return hz == point.cpu_hz.front(); });
  for (const double hz : point.cpu_hz) {
    text += (text.empty() ? "" : "/") + clock(hz);
    if (alike) break;
  }
  return text;
}

}  // namespace

std::string megahertz(std::optional<double> hz) { return hz ? csv_number(*hz / 1e6) : ""; }

std::string hertz(double hz) {
  return hz == std::floor(hz) ? fmt::format("{:.0f}", hz) : csv_number(hz);
}

std::string cpu_megahertz(const OperatingPoint& point) { return cpu_text(point, megahertz); }

std::string cpu_hertz(const OperatingPoint& point) { return cpu_text(point, hertz); }

void append_grid_text(const ModesListing& listing, std::string& text) {
  GridCells cells = grid_cells(
      listing, [](double hz) { return csv_number(hz / 1e6); }, "?");
  std::size_t name_width = 4;
  for (const DeviceMode& mode : listing.stock)
    name_width = std::max(name_width, mode.point.label.size());
  text += fmt::format("{:<{}}", "mode", name_width);
  const auto head = [&](Cells& column, std::string_view title) {
    text += fmt::format("  {:>{}}", title, pad(column, title));
  };
  head(cells.units, "SMs");
  head(cells.gpu, "GPU MHz");
  head(cells.memory, "EMC MHz");
  head(cells.cpu, "CPU MHz");
  head(cells.cores, "cores");
  text += "  reach\n";
  for_each_row(listing, "", text, [&](const GridIndex& index, const NameCells& mode) {
    text.append(mode.name).append(name_width - mode.name.size(), ' ');
    for (const std::string* cell :
         {&cells.units[index.mask], &cells.gpu[index.gpu], &cells.memory[index.memory],
          &cells.cpu[index.cpu], &cells.cores[index.cores]})
      text.append("  ").append(*cell);
    text.append("  ").append(cells.reach[index.mask][index.cores]).append("\n");
  });
}

void append_grid_csv(const ModesListing& listing, std::string& text) {
  const GridCells cells = grid_cells(listing, hertz, "");
  for_each_row(listing, "", text, [&](const GridIndex& index, const NameCells& mode) {
    text.append(mode.name);
    for (const std::string* cell :
         {&cells.mask[index.mask], &cells.units[index.mask], &cells.gpu[index.gpu],
          &cells.memory[index.memory], &cells.cpu[index.cpu], &cells.cores[index.cores]})
      text.append(",").append(*cell);
    text.append(",")
        .append(mode.cap_w)
        .append(",")
        .append(cells.reach[index.mask][index.cores])
        .append("\n");
  });
}

void append_grid_json(const ModesListing& listing, std::string& text) {
  GridCells cells = grid_cells(listing, hertz, "null");
  const auto with_key = [](Cells& column, std::string_view key) {
    for (std::string& cell : column) cell = fmt::format(R"(, "{}": {})", key, cell);
  };
  with_key(cells.mask, "tpc_pg_mask");
  with_key(cells.units, "gpu_units");
  with_key(cells.gpu, "gpu_hz");
  with_key(cells.memory, "memory_hz");
  with_key(cells.cores, "cpu_cores");
  for (Cells& arrays : cells.cpu_array) with_key(arrays, "cpu_hz");
  for (Cells& reach : cells.reach)
    for (std::string& cell : reach) cell = fmt::format(R"(, "reach": "{}"}})", cell);
  constexpr std::size_t row_bytes = 240;
  text.reserve(text.size() + listing.grid.size() * row_bytes);
  const char* before = "[\n    {\"name\": \"";
  for_each_row(listing, "null", text, [&](const GridIndex& index, const NameCells& mode) {
    text.append(std::exchange(before, ",\n    {\"name\": \"")).append(mode.name).append("\"");
    for (const std::string* cell :
         {&cells.mask[index.mask], &cells.units[index.mask], &cells.gpu[index.gpu],
          &cells.memory[index.memory], &cells.cpu_array[index.cores][index.cpu],
          &cells.cores[index.cores]})
      text.append(*cell);
    text.append(R"(, "cap_w": )").append(mode.cap_w).append(cells.reach[index.mask][index.cores]);
  });
  text += "\n  ]";
}

}  // namespace ridgeline
