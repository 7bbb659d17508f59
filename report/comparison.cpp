// One line per row; what does not fit into a line stands below the table.
#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/plan.h"

namespace ridgeline {
namespace {

bool generates(const ComparedRuns& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedRow& row) {
    return row.run && row.run->generation.has_value();
  });
}

// Cards without stock modes are set by their GPU clock alone; their vector would widen the table.
std::string short_name(const PlannedMode& mode) {
  return mode.point.label.empty() && mode.point.gpu_hz ? format_hz(*mode.point.gpu_hz)
                                                       : name_of(mode);
}

std::string heading_text(const ComparedRuns& comparison, bool has_intervals) {
  const PlannedRun& run = comparison.run;
  std::string text = run.scenario == Scenario::training ? "training " : "";
  text += run.network;
  if (comparison.varied != Varied::device) text += " on " + run.machine;
  if (comparison.varied != Varied::runtime) text += fmt::format(" by {}", to_string(run.runtime));
  if (!comparison.held_mode.empty()) text += fmt::format(", all in mode {}", comparison.held_mode);
  if (const auto& arrivals = run.objective.arrivals)
    text +=
        fmt::format(", at {} /s; power and energy with idle time", format_number(arrivals->per_s));
  const bool is_ranked = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                     [](const ComparedRow& row) { return row.rank.has_value(); });
  text += has_intervals ? "; predicted, with the half width of 90 % intervals" : "; predicted";
  if (is_ranked) text += "; rank 1: " + goal_text(run, generates(comparison));
  return text;
}

std::string half_width(const Estimate& estimate) {
  if (!(estimate.low < estimate.high)) return "";
  return format_half_width((estimate.high - estimate.low) / (estimate.high + estimate.low));
}

bool differs(const ComparedRuns& comparison, auto member) {
  const ComparedRow* first = nullptr;
  for (const ComparedRow& row : comparison.rows) {
    if (!row.run) continue;
    if (first != nullptr && (*row.run).*member != (*first->run).*member) return true;
    first = &row;
  }
  return false;
}

// The columns that a comparison needs.
struct ComparedColumns {
  bool mode = false, id = false, batch = false, dtype = false, memory = false, limits = false;
  bool training = false, at_rate = false, tokens = false, short_modes = false;
};

ComparedColumns columns_for(const ComparedRuns& comparison) {
  ComparedColumns columns;
  columns.mode = comparison.varied != Varied::mode && comparison.held_mode.empty();
  columns.id = comparison.varied == Varied::mode &&
               std::any_of(comparison.rows.begin(), comparison.rows.end(),
                           [](const ComparedRow& row) { return row.run && row.run->nvpmodel_id; });
  columns.batch = comparison.varied != Varied::batch && differs(comparison, &PlannedMode::batch);
  columns.dtype = comparison.varied != Varied::dtype && differs(comparison, &PlannedMode::dtype);
  columns.memory = comparison.varied == Varied::device || comparison.varied == Varied::batch;
  columns.limits = !comparison.run.objective.limits.empty();
  columns.short_modes = comparison.varied == Varied::device;
  columns.training = comparison.run.scenario == Scenario::training;
  columns.tokens = generates(comparison);
  columns.at_rate = comparison.run.objective.arrivals.has_value();
  return columns;
}

TextTable table_of(const ComparedRuns& comparison, const ComparedColumns& shown) {
  TextTable table{{{"rank", Align::right}, {std::string(to_string(comparison.varied))}}, {}};
  const auto add = [&](std::string title, Align align = Align::right) {
    table.columns.push_back({std::move(title), align});
  };
  if (shown.id) add("id");
  if (shown.mode) add("mode", Align::left);
  if (shown.batch) add("batch");
  if (shown.dtype) add("dtype", Align::left);
  if (shown.tokens) add("first token");
  add(shown.training ? "epoch" : shown.at_rate ? "latency" : shown.tokens ? "request" : "time");
  add("±");
  if (shown.training) {
    add("first epoch");
    add("data stall");
  }
  add(shown.training ? "GPU busy" : shown.tokens ? "tokens/s" : "/s");
  add("power");
  add(shown.training ? "J/epoch" : shown.tokens ? "J/token" : "J/sample");
  if (shown.memory) add("memory", Align::left);
  if (shown.limits) add("limits", Align::left);
  return table;
}

std::vector<std::string> cells_of(const ComparedRow& row, const ComparedColumns& shown) {
  std::vector<std::string> cells{row.rank ? std::to_string(*row.rank) : "", row.label};
  if (!row.run) return cells;
  const PlannedMode& run = *row.run;
  const PlannedService& service = run.service;
  if (shown.id) cells.push_back(run.nvpmodel_id ? std::to_string(*run.nvpmodel_id) : "");
  if (shown.mode) cells.push_back(shown.short_modes ? short_name(run) : name_of(run));
  if (shown.batch) cells.push_back(std::to_string(run.batch));
  if (shown.dtype) cells.emplace_back(to_string(run.dtype));
  if (shown.tokens) cells.push_back(format_seconds(run.generation->first_token_s.value));
  const double time_s = shown.at_rate ? service.latency_s : service.time_s;
  cells.push_back(std::isfinite(time_s) ? format_seconds(time_s) : "grows");  // a queue without end
  cells.push_back(half_width(row.training ? row.training->epoch_s : run.time_s));
  if (row.training) {
    cells.push_back(format_seconds(row.training->first.time_s));
    cells.push_back(format_seconds(row.training->later.wait_s));
  }
  cells.push_back(row.training
                      ? format_percent(row.training->later.device_s / row.training->later.time_s)
                  : run.generation ? format_number(run.generation->tokens_per_s.value)
                                   : format_number(service.samples_per_s));
  cells.push_back(service.mean_power_w ? format_si(*service.mean_power_w, "W") : "");
  if (run.generation)
    cells.push_back(run.generation->token_energy_j
                        ? format_si(run.generation->token_energy_j->value, "J")
                        : "");
  else
    cells.push_back(service.energy_j ? format_si(*service.energy_j, "J") : "");
  if (shown.memory) cells.emplace_back(row.memory ? to_string(row.memory->verdict()) : "unknown");
  if (shown.limits) cells.emplace_back(row.broken.empty() ? "kept" : "broken");
  return cells;
}

}  // namespace

std::string comparison_text(const ComparedRuns& comparison, int width) {
  const ComparedColumns shown = columns_for(comparison);
  TextTable table = table_of(comparison, shown);
  std::string below;
  for (const ComparedRow& row : comparison.rows) {
    if (row.run)
      table.rows.push_back(cells_of(row, shown));
    else
      below += wrap(fmt::format("{}: {}", row.label, row.why_not), width, 2) + "\n";
    for (const std::string& limit : row.broken)
      below += wrap(fmt::format("{} {}", row.label, limit), width, 2) + "\n";
  }
  if (comparison.varied == Varied::device)
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
      const auto place = [](const std::string& rank) {
        return rank.empty() ? 1000 : std::stoi(rank);
      };
      return place(a.front()) < place(b.front());
    });
  if (shown.training)
    drop_columns(table, width, {"power", "first epoch", "±", "dtype", "memory"});
  else
    drop_columns(table, width, {"±", "/s", "dtype", "memory"});
  const bool has_intervals = std::any_of(table.columns.begin(), table.columns.end(),
                                         [](const Column& column) { return column.title == "±"; });
  std::string text =
      wrap(heading_text(comparison, has_intervals), width, 2) + "\n\n" + render_text(table, width);
  if (!below.empty()) text += "\n" + below;
  const auto best = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                 [](const ComparedRow& row) { return row.rank == 1; });
  if (comparison.varied == Varied::mode && best != comparison.rows.end() &&
      !best->run->command.empty())
    text += fmt::format("\nbest: {}\n", best->run->command);
  if (!comparison.notes.empty()) text += "\n";
  for (const std::string& note : comparison.notes) text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

std::string served_text(const ComparedRow& row, const Objective& objective, int width) {
  if (row.training) return training_text(*row.training, width);
  const PlannedService& service = row.run->service;
  std::string text =
      fmt::format("at {} /s: latency {}", format_number(objective.arrivals->per_s),
                  std::isfinite(service.latency_s) ? format_seconds(service.latency_s)
                                                   : "grows without end, work piles up");
  if (service.mean_power_w)
    text += fmt::format(", {} on average, {} per sample with idle time",
                        format_si(*service.mean_power_w, "W"), format_si(*service.energy_j, "J"));
  if (const auto& period = row.run->period; period && period->idle_w)
    text +=
        fmt::format("; busy {} of the time, idle at {}",
                    format_percent(std::min(1.0, period->duty)), format_si(*period->idle_w, "W"));
  return wrap(text, width, 2) + "\n";
}

std::string to_csv(const ComparedRuns& comparison) {
  std::string text =
      csv_row({std::string(to_string(comparison.varied)), "rank", "mode", "nvpmodel_id", "batch",
               "dtype", "time_s", "time_low_s", "time_high_s", "latency_s", "samples_per_s",
               "mean_power_w", "energy_j", "memory", "limits_kept", "why_not"});
  for (const ComparedRow& row : comparison.rows) {
    std::vector<std::string> cells{row.label, row.rank ? std::to_string(*row.rank) : ""};
    if (row.run) {
      const PlannedMode& run = *row.run;
      const PlannedService& service = run.service;
      const auto number = [](const std::optional<double>& value) {
        return value ? csv_number(*value) : "";
      };
      cells.insert(
          cells.end(),
          {name_of(run), run.nvpmodel_id ? std::to_string(*run.nvpmodel_id) : "",
           std::to_string(run.batch), std::string(to_string(run.dtype)), csv_number(service.time_s),
           csv_number(run.time_s.low), csv_number(run.time_s.high), csv_number(service.latency_s),
           csv_number(service.samples_per_s), number(service.mean_power_w),
           number(service.energy_j),
           row.memory ? std::string(to_string(row.memory->verdict())) : "",
           row.broken.empty() ? "true" : "false"});
    }
    cells.resize(15);
    cells.push_back(row.why_not);
    text += csv_row(cells);
  }
  return text;
}

}  // namespace ridgeline
