// The stock modes as a table, the count of all others, one mode in detail, and every mode of the
// grid, one line each. There are tens of thousands: the text of a value is made once per axis, not
// once per row, and a mode that a stock mode equals bears its name.
#include "report/modes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text_table.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

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

constexpr char unclamped = '*';
constexpr char off_table = '~';

// "1300.5*" where the firmware's limit holds, "520~" where the cap is no lockable step.
std::string marked(const std::string& clock, std::optional<ClockLimit> limit, const char* knob,
                   const DeviceMode& mode) {
  if (clock.empty()) return "";
  const bool is_off = std::any_of(mode.between_steps.begin(), mode.between_steps.end(),
                                  [&](const std::string& note) { return note.starts_with(knob); });
  return clock + (is_off ? off_table : limit == ClockLimit::bpmp ? unclamped : ' ');
}

std::string watt(std::optional<double> power_w) {
  return power_w ? csv_number(*power_w) + " W" : "";
}

std::string count_text(std::optional<int> count) { return count ? std::to_string(*count) : ""; }

std::string heading(const ModesListing& listing, int width) {
  std::string text = listing.device.name;
  if (!listing.configuration.jetpacks.empty())
    text += fmt::format("; modes of JetPack {}", fmt::join(listing.configuration.jetpacks, ", "));
  return wrap(text, width, 2) + "\n";
}

std::string stock_table(const ModesListing& listing, int width) {
  TextTable table{{{"mode"},
                   {"id", Align::right},
                   {"SMs", Align::right},
                   {"GPU MHz ", Align::right},
                   {"EMC MHz ", Align::right},
                   {"CPU MHz ", Align::right},
                   {"cores", Align::right},
                   {"budget", Align::right},
                   {"reach"}},
                  {}};
  for (const DeviceMode& mode : listing.stock) {
    const OperatingPoint& point = mode.point;
    table.rows.push_back({point.label, count_text(mode.id), count_text(point.gpu_units),
                          marked(megahertz(point.gpu_hz), mode.gpu_limit, "gpu", mode),
                          marked(megahertz(point.memory_hz), mode.memory_limit, "emc", mode),
                          marked(cpu_megahertz(point), mode.cpu_limit, "cpu", mode),
                          count_text(point.cpu_cores), watt(stated_power_w(mode)),
                          std::string(to_string(mode.reach))});
  }
  std::string text = render_text(table, width);
  if (text.find(unclamped) != std::string::npos)
    text += "* at the firmware's (BPMP) limit, the mode does not hold it lower\n";
  if (text.find(off_table) != std::string::npos)
    text += "~ as the mode writes it, between two lockable steps: the board rounds it\n";
  const std::string& from = listing.from.point.label;
  const bool is_default = listing.from.id == listing.configuration.default_mode;
  return text +
         wrap(fmt::format("reach is counted from {}{}", from,
                          is_default ? ", the default mode" : ""),
              width, 2) +
         "\n";
}

std::string factors(const MaskGrid& mask) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  add(mask.cpu_cores.size(), "core count");
  add(mask.cpu_hz.size(), "CPU clock");
  add(mask.gpu_hz.size(), "GPU clock");
  add(mask.memory_hz.size(), "memory clock");
  return fmt::format("{}", fmt::join(parts, " × "));
}

std::string grid_summary(const ModesListing& listing, int width) {
  const ModeGrid& grid = listing.grid;
  std::string text =
      fmt::format("{}{} modes in all", grid.is_complete ? "" : "at least ", grid.size());
  if (grid.is_inferred) text += ", partly inferred";
  text += ": " + factors(grid.masks.front());
  if (!grid.masks.front().tpc_pg_mask) return wrap(text, width, 2) + "\n";
  text = wrap(text + " per TPC mask", width, 2) + "\n";
  TextTable table{{{"TPC_PG_MASK", Align::right}, {"SMs", Align::right}, {"modes", Align::right}},
                  {}};
  for (const MaskGrid& mask : grid.masks)
    if (mask.size() > 0)
      table.rows.push_back({std::to_string(mask.tpc_pg_mask.value_or(0)),
                            count_text(mask.gpu_units), std::to_string(mask.size())});
  return text + render_text(table, width);
}

void add_notes(std::string& text, const std::string& who, const std::vector<std::string>& notes,
               int width) {
  for (const std::string& note : notes)
    text += wrap(who.empty() ? note : who + ": " + note, width, 2) + "\n";
}

std::string mode_details(const ModesListing& listing, int width) {
  const DeviceMode& mode = *listing.asked;
  const OperatingPoint& point = mode.point;
  const auto held_by = [](std::optional<ClockLimit> limit) {
    if (!limit) return std::string();
    return std::string(*limit == ClockLimit::bpmp ? "firmware (BPMP)" : "nvpmodel");
  };
  const auto clock = [](const std::string& megahertz) {
    return megahertz.empty() ? "unknown" : megahertz + " MHz";
  };
  TextTable table{{{"knob"}, {"value", Align::right}, {"held by"}}, {}};
  table.rows.push_back({"SMs", point.gpu_units ? count_text(point.gpu_units) : "unknown",
                        mode.tpc_pg_mask ? fmt::format("TPC_PG_MASK {}", *mode.tpc_pg_mask) : ""});
  table.rows.push_back({"GPU", clock(megahertz(point.gpu_hz)), held_by(mode.gpu_limit)});
  table.rows.push_back({"EMC", clock(megahertz(point.memory_hz)), held_by(mode.memory_limit)});
  table.rows.push_back({"CPU", clock(cpu_megahertz(point)), held_by(mode.cpu_limit)});
  table.rows.push_back({"cores", count_text(point.cpu_cores), ""});
  if (mode.budget_w)
    table.rows.push_back({"budget", watt(mode.budget_w), "nothing: it names the clocks"});
  if (point.cap_w) table.rows.push_back({"power", watt(point.cap_w), "power cap"});
  std::string text = point.label + "\n" + render_text(table, width);
  text += mode.reach == Reach::live
              ? fmt::format("live from {}\n", listing.from.point.label)
              : fmt::format("needs a reboot from {}\n", listing.from.point.label);
  add_notes(text, {}, mode.between_steps, width);
  add_notes(text, {}, mode.notes, width);
  return text;
}

std::string csv_line(const DeviceMode& mode) {
  const OperatingPoint& point = mode.point;
  const auto number = [](std::optional<double> value) { return value ? hertz(*value) : ""; };
  return csv_row({point.label, mode.tpc_pg_mask ? std::to_string(*mode.tpc_pg_mask) : "",
                  count_text(point.gpu_units), number(point.gpu_hz), number(point.memory_hz),
                  cpu_hertz(point), count_text(point.cpu_cores), number(stated_power_w(mode)),
                  std::string(to_string(mode.reach))});
}

using Cells = std::vector<std::string>;

// Text of every value, by mask where it depends on it. Cells of an unknown knob are one each.
struct GridCells {
  Cells mask;                // TPC_PG_MASK
  Cells units;               //
  std::vector<Cells> reach;  // by mask and cores
  Cells cores, cpu, gpu, memory;
  std::vector<std::size_t> clusters;  // by cores: how many are online with a known clock
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
  for (std::size_t cores = 0; cores < cells.cores.size(); ++cores)
    cells.clusters.push_back(point_at(grid, {0, cores, 0, 0, 0}).cpu_hz.size());
  return cells;
}

// What sets a stock mode apart from the others of the grid.
struct NameCells {
  std::string name;
  std::string cap_w;
};

// Calls row(index, cells of the name) for every mode, in order.
template <class Row>
void for_each_row(const ModesListing& listing, const char* no_cap, Row row) {
  std::map<std::size_t, NameCells> named;  // by place among all modes
  for (const DeviceMode& mode : listing.stock)
    if (const auto position = position_of(listing.grid, mode)) {
      const auto cap_w = stated_power_w(mode);
      named.emplace(*position, NameCells{mode.point.label, cap_w ? csv_number(*cap_w) : no_cap});
    }
  const NameCells nameless{"", no_cap};
  auto next = named.begin();
  std::size_t position = 0;
  for_each_mode(listing.grid, [&](const GridIndex& index) {
    const bool is_named = next != named.end() && next->first == position;
    row(index, is_named ? next->second : nameless);
    if (is_named) ++next;
    ++position;
  });
}

// Asks for the memory of all rows once the first is there: a text of megabytes that grows is copied
// again and again.
template <class Row>
void append_rows(const ModesListing& listing, std::string& text, Row row) {
  const std::size_t begin = text.size();
  bool is_first = true;
  for_each_row(listing, "", [&](const GridIndex& index, const NameCells& mode) {
    row(index, mode);
    if (std::exchange(is_first, false))
      text.reserve(begin + 3 * (text.size() - begin) / 2 * listing.grid.size());
  });
}

// Every cell as wide as the widest, numbers to the right.
std::size_t pad(Cells& cells, std::string_view title) {
  std::size_t width = title.size();
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  for (std::string& cell : cells) cell.insert(0, width - cell.size(), ' ');
  return width;
}

// With a heading.
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
  append_rows(listing, text, [&](const GridIndex& index, const NameCells& mode) {
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
  append_rows(listing, text, [&](const GridIndex& index, const NameCells& mode) {
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

// One line per mode, so that the long list stays short.
void write_grid(const ModesListing& listing, JsonWriter& writer) {
  const GridCells cells = grid_cells(listing, hertz, "null");
  const auto member = [&](std::string_view key, const std::string& value) {
    writer.key(key);
    writer.written(value);
  };
  writer.open_array();
  for_each_row(listing, "null", [&](const GridIndex& index, const NameCells& mode) {
    writer.open_row();
    writer.key("name");
    writer.text(mode.name);
    member("tpc_pg_mask", cells.mask[index.mask]);
    member("gpu_units", cells.units[index.mask]);
    member("gpu_hz", cells.gpu[index.gpu]);
    member("memory_hz", cells.memory[index.memory]);
    writer.key("cpu_hz");
    writer.open_array();
    for (std::size_t i = 0; i < cells.clusters[index.cores]; ++i)
      writer.written(cells.cpu[index.cpu]);
    writer.close_array();
    member("cpu_cores", cells.cores[index.cores]);
    member("cap_w", mode.cap_w);
    writer.key("reach");
    writer.text(cells.reach[index.mask][index.cores]);
    writer.close_row();
  });
  writer.close_array();
}

Json limit_json(std::optional<ClockLimit> limit) {
  return limit ? Json(to_string(*limit)) : Json();
}

Json custom_json(const ModeGrid& grid) {
  Json masks = Json::array();
  for (const MaskGrid& mask : grid.masks)
    if (mask.size() > 0)
      masks.push_back({{"tpc_pg_mask", mask.tpc_pg_mask ? Json(*mask.tpc_pg_mask) : Json()},
                       {"gpu_units", nullable(mask.gpu_units)},
                       {"count", mask.size()}});
  return {{"count", grid.size()},
          {"complete", grid.is_complete},
          {"inferred", grid.is_inferred},
          {"per_mask", masks}};
}

}  // namespace

std::string megahertz(std::optional<double> hz) { return hz ? csv_number(*hz / 1e6) : ""; }

std::string hertz(double hz) {
  return hz == std::floor(hz) ? fmt::format("{:.0f}", hz) : csv_number(hz);
}

std::string cpu_megahertz(const OperatingPoint& point) { return cpu_text(point, megahertz); }

std::string cpu_hertz(const OperatingPoint& point) { return cpu_text(point, hertz); }

Json mode_json(const DeviceMode& mode) {
  Json json = to_json(mode.point);
  json.erase("label");
  Json result = {{"name", mode.point.label},
                 {"id", nullable(mode.id)},
                 {"tpc_pg_mask", mode.tpc_pg_mask ? Json(*mode.tpc_pg_mask) : Json()},
                 {"fbp_pg_mask", mode.fbp_pg_mask ? Json(*mode.fbp_pg_mask) : Json()}};
  result.update(json);
  result["cap_w"] = nullable(stated_power_w(mode));
  result["reach"] = to_string(mode.reach);
  result["limits"] = {{"gpu", limit_json(mode.gpu_limit)},
                      {"memory", limit_json(mode.memory_limit)},
                      {"cpu", limit_json(mode.cpu_limit)}};
  result["notes"] = mode.between_steps;
  for (const std::string& note : mode.notes) result["notes"].push_back(note);
  return result;
}

std::string modes_text(const ModesListing& listing, int width) {
  std::string text = heading(listing, width) + "\n";
  if (listing.asked) return text + mode_details(listing, width);
  if (listing.lists_all) {
    append_grid_text(listing, text);
    text += "\n" + grid_summary(listing, width);
    add_notes(text, {}, listing.grid.notes, width);
    return text;
  }
  if (listing.stock.empty())
    text += "no named modes\n";
  else
    text += stock_table(listing, width);
  for (const DeviceMode& mode : listing.stock) add_notes(text, mode.point.label, mode.notes, width);
  text += "\n" + grid_summary(listing, width);
  add_notes(text, {}, listing.grid.notes, width);
  return text;
}

std::string modes_csv(const ModesListing& listing) {
  std::string text = "name,tpc_pg_mask,gpu_units,gpu_hz,memory_hz,cpu_hz,cpu_cores,cap_w,reach\n";
  if (listing.asked) return text + csv_line(*listing.asked);
  for (const DeviceMode& mode : listing.stock)
    if (!listing.lists_all || !position_of(listing.grid, mode)) text += csv_line(mode);
  if (listing.lists_all) append_grid_csv(listing, text);
  return text;
}

void write_modes_json(const ModesListing& listing, std::ostream& out) {
  const Json document = {
      {"schema", ModesListing::schema},
      {"device", listing.device.id},
      {"configuration",
       {{"id", listing.configuration.id}, {"jetpacks", listing.configuration.jetpacks}}},
      {"default", listing.configuration.modes.empty()
                      ? Json()
                      : Json(default_mode(listing.device, listing.configuration).point.label)},
      {"from", listing.from.point.label},
      {"stock", array_of(listing.stock, mode_json)},
      {"custom", custom_json(listing.grid)},
      {"mode", listing.asked ? mode_json(*listing.asked) : Json()},
      {"nvpmodel", listing.block.empty() ? Json() : Json(listing.block)},
      {"notes", listing.grid.notes}};
  JsonWriter writer(out);
  writer.open_object();
  for (const auto& [key, value] : document.items()) {
    writer.key(key);
    writer.tree(value);
  }
  writer.key("modes");
  if (listing.lists_all)
    write_grid(listing, writer);
  else
    writer.null();
  writer.close_object();
  writer.finish();
}

}  // namespace ridgeline
