// Rows of the catalog, as text, CSV and JSON.
// Columns that do not fit a narrow terminal are left out, the least important first.
#include "report/device_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "devices/catalog/model.h"
#include "devices/modes/mode_space.h"
#include "roofline/ceilings/datasheet.h"

namespace ridgeline {
namespace {

std::optional<double> fastest(const Ceilings& ceilings, Unit unit, DType dtype) {
  std::optional<double> best;
  const bool has_gpu =
      std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(),
                  [](const Peak& peak) { return peak.processor == Processor::gpu; });
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == (has_gpu ? Processor::gpu : Processor::cpu) && peak.unit == unit &&
        peak.dtype == dtype && !peak.sparse && (!best || peak.flops_per_s > *best))
      best = peak.flops_per_s;
  return best;
}

std::string text_of(const std::optional<double>& value, std::string_view unit) {
  return value ? format_si(*value, unit) : std::string("-");
}

Json row_to_json(const DeviceRow& row) {
  return {{"id", row.id},
          {"name", row.name},
          {"aliases", row.aliases},
          {"kind", to_string(row.kind)},
          {"gpu_units", nullable(row.gpu_units)},
          {"gpu_hz", nullable(row.gpu_hz)},
          {"fp32_flops_per_s", nullable(row.fp32_flops_per_s)},
          {"fp16_matrix_flops_per_s", nullable(row.fp16_matrix_flops_per_s)},
          {"int8_matrix_ops_per_s", nullable(row.int8_matrix_ops_per_s)},
          {"dram_bytes_per_s", nullable(row.dram_bytes_per_s)},
          {"stock_modes", row.stock_modes}};
}

}  // namespace

DeviceRow device_row(const catalog::Device& device) {
  const catalog::Configuration& configuration = device.configurations.front();
  const Ceilings ceilings =
      datasheet_ceilings(catalog::machine_model(device), resolve(device, configuration, {}).point);
  DeviceRow row;
  row.id = device.id;
  row.name = device.name;
  row.aliases = device.aliases;
  row.kind = device.kind;
  row.gpu_units = ceilings.point.gpu_units;
  row.gpu_hz = ceilings.point.gpu_hz;
  row.fp32_flops_per_s = fastest(ceilings, Unit::vector, DType::fp32);
  row.fp16_matrix_flops_per_s = fastest(ceilings, Unit::matrix, DType::fp16);
  row.int8_matrix_ops_per_s = fastest(ceilings, Unit::matrix, DType::int8);
  for (const Bandwidth& bandwidth : ceilings.bandwidths)
    if (bandwidth.source != Source::fitted) row.dram_bytes_per_s = bandwidth.bytes_per_s;
  row.stock_modes = static_cast<int>(configuration.modes.size());
  return row;
}

std::string list_text(const DeviceList& list, int width) {
  std::string text = "This machine\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    constexpr int column = 11;
    if (!value.empty())
      text += fmt::format("  {:<9}", name) + wrap(value, width, column, column) + '\n';
  };
  line("name", list.here.name);
  if (const std::string& board = list.device.identity.board; board != list.here.name)
    line("board", board);
  line("device", device_text(list.device));
  line("system", release_text(list.device));
  line("mode", list.mode.label);

  TextTable table;
  table.columns = {{"device"},
                   {"SMs", Align::right},
                   {"GPU clock", Align::right},
                   {"FP32", Align::right},
                   {"FP16 matrix", Align::right},
                   {"INT8 matrix", Align::right},
                   {"DRAM", Align::right},
                   {"modes", Align::right}};
  for (const DeviceRow& row : list.devices)
    table.rows.push_back(
        {row.id, row.gpu_units ? std::to_string(*row.gpu_units) : "-",
         row.gpu_hz ? format_hz(*row.gpu_hz) : "-", text_of(row.fp32_flops_per_s, "FLOP/s"),
         text_of(row.fp16_matrix_flops_per_s, "FLOP/s"), text_of(row.int8_matrix_ops_per_s, "OP/s"),
         text_of(row.dram_bytes_per_s, "B/s"),
         row.stock_modes > 0 ? std::to_string(row.stock_modes) : "-"});
  // From the right, until the rest fits.
  constexpr std::size_t least_columns = 4;
  const auto too_wide = [&] {
    const std::string drawn = render_text(table, 1000);
    return display_width(drawn.substr(0, drawn.find('\n'))) > width;
  };
  for (const std::size_t column : {2U, 6U, 4U, 3U}) {
    if (table.columns.size() <= least_columns || !too_wide()) break;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  text += "\nCatalog\n" + render_text(table, width);
  text += wrap(
              "Dense peaks with every clock at its ceiling, on paper. 'ridgeline devices NAME' "
              "shows a device with its sources.",
              width) +
          '\n';
  return text;
}

std::string list_csv(const DeviceList& list) {
  const auto cell = [](const std::optional<double>& value) {
    return value ? csv_number(*value) : std::string();
  };
  std::string csv = csv_row({"id", "name", "aliases", "kind", "gpu_units", "gpu_hz",
                             "fp32_flops_per_s", "fp16_matrix_flops_per_s", "int8_matrix_ops_per_s",
                             "dram_bytes_per_s", "stock_modes"});
  for (const DeviceRow& row : list.devices)
    csv += csv_row({row.id, row.name, fmt::format("{}", fmt::join(row.aliases, " ")),
                    std::string(to_string(row.kind)),
                    row.gpu_units ? std::to_string(*row.gpu_units) : "", cell(row.gpu_hz),
                    cell(row.fp32_flops_per_s), cell(row.fp16_matrix_flops_per_s),
                    cell(row.int8_matrix_ops_per_s), cell(row.dram_bytes_per_s),
                    std::to_string(row.stock_modes)});
  return csv;
}

Json to_json(const DeviceList& list) {
  Json here = to_json(list.device);
  here["device"] = row_to_json(list.here);
  here["mode"] = ridgeline::to_json(list.mode);
  return {{"schema", DeviceList::schema},
          {"this_machine", std::move(here)},
          {"devices", array_of(list.devices, row_to_json)}};
}

}  // namespace ridgeline
