// The fastest fp32 row, the fastest DRAM row and the fitted energies speak for a mode; all rows are
// in the profile.
#include "report/mode_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/modes.h"

namespace ridgeline {
namespace {

bool has_rate(Status status) { return status == Status::ok || status == Status::throttled; }

std::optional<double> fastest_fp32(const ProfileMode& mode) {
  std::optional<double> best;
  for (const ComputeRow& row : mode.compute)
    if (has_rate(row.status) && row.flops_per_s && row.dtype == DType::fp32 && !row.sparse)
      best = std::max(best.value_or(0), row.flops_per_s->value);
  return best;
}

std::optional<double> fastest_dram(const ProfileMode& mode) {
  std::optional<double> best;
  for (const MemoryRow& row : mode.memory)
    if (has_rate(row.status) && row.bytes_per_s && row.level == Level::dram)
      best = std::max(best.value_or(0), row.bytes_per_s->value);
  return best;
}

std::string mode_rate_text(const std::optional<double>& rate, const char* unit) {
  return rate ? format_si(*rate, unit) : "";
}

std::string estimate_text(const std::optional<Estimate>& value, const char* unit) {
  return value ? format_si(value->value, unit) : "";
}

std::optional<Estimate> idle_power(const ProfileMode& mode, IdleState state) {
  const auto row = std::ranges::find(mode.idle, state, &IdleRow::state);
  return row == mode.idle.end() ? std::nullopt : std::optional(row->power_w);
}

// A CPU has no GPU clock, and not every machine shows its clocks.
void drop_empty_columns(TextTable& table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    if (std::ranges::any_of(table.rows, [&](const auto& row) { return !row[column].empty(); }))
      continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::string state_word(const ProfileMode& mode) {
  if (!mode.conditions.complete) return "incomplete";
  if (!disturbance(mode.conditions).empty()) return "disturbed";
  return mode.conditions.rows.throttled > 0 ? "throttled" : "";
}

}  // namespace

std::string mode_line(const ProfileMode& mode, std::size_t number, std::size_t count) {
  std::string line = fmt::format("{} of {}  {}:", number, count, mode.mode.label);
  if (const auto rate = fastest_fp32(mode)) line += ' ' + format_si(*rate, "FLOP/s") + " fp32,";
  if (const auto rate = fastest_dram(mode)) line += ' ' + format_si(*rate, "B/s") + ',';
  if (mode.idle_power_w) line += ' ' + format_si(mode.idle_power_w->value, "W") + " idle,";
  if (line.ends_with(',') || line.ends_with(':')) line.pop_back();
  const std::string state = state_word(mode);
  return state.empty() ? line : line + " (" + state + ")";
}

std::string mode_sweep_text(const ModeSweep& sweep, int width) {
  const bool has_power = std::ranges::any_of(
      sweep.profile.modes, [](const ProfileMode& mode) { return !mode.energy.empty(); });
  TextTable table{{{"mode", Align::left, true},
                   {"GPU MHz", Align::right, false, 3},
                   {"EMC MHz", Align::right, false, 2},
                   {"CPU MHz", Align::right, false, 4},
                   {"cores", Align::right, false, 1},
                   {"fp32", Align::right},
                   {"DRAM", Align::right}},
                  {}};
  if (has_power)
    for (const char* title : {"per FLOP", "per byte", "constant", "idle", "governor", "suspended"})
      table.columns.push_back({title, Align::right});
  table.columns.push_back({""});
  for (const ProfileMode& mode : sweep.profile.modes) {
    std::vector<std::string> cells{mode.mode.label,
                                   megahertz(mode.mode.gpu_hz),
                                   megahertz(mode.mode.memory_hz),
                                   cpu_megahertz(mode.mode),
                                   mode.mode.cpu_cores ? std::to_string(*mode.mode.cpu_cores) : "",
                                   mode_rate_text(fastest_fp32(mode), "FLOP/s"),
                                   mode_rate_text(fastest_dram(mode), "B/s")};
    if (has_power) {
      const EnergyFitRow fit = mode.energy.empty() ? EnergyFitRow{} : mode.energy.front();
      cells.push_back(estimate_text(fit.joule_per_flop, "J"));
      cells.push_back(estimate_text(fit.joule_per_byte, "J"));
      cells.push_back(estimate_text(fit.constant_power_w, "W"));
      cells.push_back(estimate_text(mode.idle_power_w, "W"));
      for (const IdleState state : {IdleState::governor, IdleState::suspended})
        cells.push_back(estimate_text(idle_power(mode, state), "W"));
    }
    cells.push_back(state_word(mode));
    table.rows.push_back(std::move(cells));
  }
  drop_empty_columns(table);
  std::string text =
      fmt::format("{}: {} mode{} measured\n\n", sweep.profile.machine.name,
                  sweep.profile.modes.size(), sweep.profile.modes.size() == 1 ? "" : "s") +
      render_text(table, width);
  if (std::ranges::any_of(sweep.profile.modes,
                          [](const ProfileMode& mode) { return !mode.idle.empty(); }))
    text += paragraph(
        "idle: clocks held as for the kernels; governor: clocks only capped; suspended: no program "
        "has the GPU open and its rail is cut",
        width);
  if (!sweep.errors.empty()) {
    text += "\none model of all modes; modes left out of its fit are predicted with an error of\n";
    for (const LeftOutError& error : sweep.errors)
      text += fmt::format("  {}: {} on average, {} at most ({} predictions)\n", error.quantity,
                          format_percent(error.mean, 1), format_percent(error.worst, 1),
                          error.predictions);
  }
  if (!sweep.skipped.empty()) {
    text += "\nnot measured:\n";
    for (const control::SkippedMode& mode : sweep.skipped)
      text += paragraph(
          mode.label + ": " + mode.why + (mode.command.empty() ? "" : "; " + mode.command), width);
  }
  return text;
}

}  // namespace ridgeline
