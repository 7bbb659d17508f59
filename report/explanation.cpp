// The verdict comes first, then its evidence.
#include "report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "plots/figures/roofline.h"
#include "report/memory.h"
#include "roofline/explain/measured.h"

namespace ridgeline {
namespace {

constexpr std::size_t shown_layers = 10;
constexpr double least_overhead = 5e-4;  // share of the time that would show as more than 0.0 %

std::string heading(const Explanation& explanation, int width) {
  const ExplainedRun& run = explanation.run;
  std::string text = fmt::format("{}, {}, batch {}, {}, {}", run.network, run.task, run.batch,
                                 to_string(run.dtype), to_string(explanation.runtime));
  text += fmt::format(" on {}; mode: {}", run.machine, mode_text(explanation.point));
  text += run.locked ? "; clocks locked" : "; clocks left to the governor";
  return wrap(text, width) + "\n\n";
}

using Format = std::function<std::string(double)>;

// "12.4 ms", "10.1 ms to 15.2 ms", "predicted".
std::vector<std::string> total_cells(const char* what, const Estimate& estimate,
                                     const Format& format, const std::string& more) {
  const bool interval = estimate.low < estimate.high;
  return {what, format(estimate.value),
          interval ? fmt::format("{} to {}", format(estimate.low), format(estimate.high))
                   : "no interval",
          std::string(to_string(estimate.source)), more};
}

std::string totals(const Explanation& explanation, int width) {
  const double samples = static_cast<double>(explanation.run.batch);
  TextTable table{{{""}, {"value", Align::right}, {"90 % interval"}, {"source"}, {"per sample"}},
                  {}};
  const auto seconds = [](double value) { return format_seconds(value); };
  const auto joules = [](double value) { return format_si(value, "J"); };
  const auto watts = [](double value) { return format_si(value, "W"); };
  table.rows.push_back(total_cells("time", explanation.time_s, seconds,
                                   format_seconds(explanation.time_s.value / samples)));
  if (explanation.energy_j)
    table.rows.push_back(total_cells("energy", *explanation.energy_j, joules,
                                     format_si(explanation.energy_j->value / samples, "J")));
  if (explanation.power_w)
    table.rows.push_back(total_cells("power", *explanation.power_w, watts, ""));
  return render_text(table, width);
}

// A line of the table: a layer, those that are not shown, an overhead.
struct LayerLine {
  std::string name, op, bound;
  double time_s = 0, time_share = 0;
  std::optional<double> energy_share, intensity, roof_share;
  std::optional<double> measured_s = {}, measured_share = {};  // seconds, and of all measured
};

struct ShownColumns {
  bool op;  // where there is room for it beside the names
  bool energy;
  bool measured = false;  // times and their roof beside the predicted ones
  bool grouped = false;   // rows are modules
};

std::vector<Column> columns_of(const ShownColumns& shown) {
  constexpr int name_width = 26;  // before the intensity goes
  std::vector<Column> columns{
      {shown.grouped ? "module" : "layer", Align::left, true, 0, name_width}};
  if (shown.op) columns.push_back({"op"});
  columns.push_back({"bound"});
  if (shown.measured) columns.push_back({"measured", Align::right});
  columns.push_back({shown.measured ? "predicted" : "time", Align::right});
  columns.push_back({"share", Align::right});
  if (shown.energy) columns.push_back({"energy", Align::right});
  columns.push_back({"FLOP/B", Align::right, false, 1});
  columns.push_back({"of roof", Align::right});
  return columns;
}

std::vector<std::string> cells_of(const LayerLine& line, const ShownColumns& shown) {
  std::vector<std::string> cells{line.name};
  if (shown.op) cells.push_back(line.op);
  cells.push_back(line.bound);
  if (shown.measured) cells.push_back(line.measured_s ? format_seconds(*line.measured_s) : "");
  cells.push_back(format_seconds(line.time_s));
  const auto share = shown.measured ? line.measured_share : std::optional(line.time_share);
  cells.push_back(share ? format_percent(*share, 1) : "");
  if (shown.energy) cells.push_back(line.energy_share ? format_percent(*line.energy_share, 1) : "");
  cells.push_back(line.intensity ? format_number(*line.intensity) : "");
  cells.push_back(line.roof_share ? format_percent(*line.roof_share) : "");
  return cells;
}

// With measured times the roof is that of the measured one.
LayerLine line_of(const ExplainedLayer& layer, const Explanation& explanation) {
  LayerLine line{layer.name,
                 std::string(to_string(layer.op)),
                 std::string(to_string(layer.bound)),
                 layer.time_s,
                 layer.time_share,
                 layer.energy_share,
                 layer.intensity,
                 layer.roof_share};
  if (!explanation.measured) return line;
  line.roof_share = layer.measured_roof_share;
  line.measured_s = layer.measured_s;
  if (layer.measured_s && explanation.measured->total_s > 0)
    line.measured_share = *layer.measured_s / explanation.measured->total_s;
  return line;
}

LayerLine line_of(const Overhead& overhead, const Explanation& explanation) {
  LayerLine line{overhead.name, "overhead", "", overhead.time_s, 0, {}, {}, {}};
  line.time_share = overhead.time_s / explanation.time_s.value;
  if (explanation.energy_j) line.energy_share = overhead.energy_j / explanation.energy_j->value;
  return line;
}

// The others together, so that the lines still add up to the total.
LayerLine line_of_rest(const std::vector<const ExplainedLayer*>& layers, std::size_t begin,
                       const Explanation& explanation) {
  LayerLine line;
  const std::size_t others = layers.size() - begin;
  line.name = fmt::format("({} other{})", others, others == 1 ? "" : "s");
  for (std::size_t i = begin; i < layers.size(); ++i) {
    line.time_s += layers[i]->time_s;
    line.time_share += layers[i]->time_share;
    if (layers[i]->energy_share)
      line.energy_share = line.energy_share.value_or(0) + *layers[i]->energy_share;
    const LayerLine one = line_of(*layers[i], explanation);
    if (one.measured_s) line.measured_s = line.measured_s.value_or(0) + *one.measured_s;
    if (one.measured_share)
      line.measured_share = line.measured_share.value_or(0) + *one.measured_share;
  }
  return line;
}

std::string layer_table(const Explanation& explanation, bool all, int width) {
  constexpr int enough_for_op = 80;
  const bool measured = explanation.measured && explanation.measured->total_s > 0;
  const ShownColumns shown{width >= enough_for_op, explanation.energy_j && !measured, measured,
                           !explanation.groups.empty()};
  const auto layers = longest_layers(explanation);
  const std::size_t count = all ? layers.size() : std::min(layers.size(), shown_layers);
  TextTable table{columns_of(shown), {}};
  for (std::size_t i = 0; i < count; ++i)
    table.rows.push_back(cells_of(line_of(*layers[i], explanation), shown));
  if (count < layers.size())
    table.rows.push_back(cells_of(line_of_rest(layers, count, explanation), shown));
  for (const Overhead& overhead : explanation.overheads) {
    const LayerLine line = line_of(overhead, explanation);
    if (all || line.time_share >= least_overhead) table.rows.push_back(cells_of(line, shown));
  }
  std::string text = render_text(table, width);
  if (count < layers.size())
    text += fmt::format("--all shows every {}\n", shown.grouped ? "module" : "layer");
  return text;
}

std::string advice_text(const Explanation& explanation, int width) {
  if (explanation.advice.empty())
    return wrap("No change of mode, clock, batch, type or runtime that was tried helps.", width) +
           "\n";
  std::string text = "What would help (predicted):\n";
  for (const Advice& advice : explanation.advice)
    text += "  " + wrap(to_text(advice), width, 4, 2) + "\n";
  return text;
}

// "measured: 1.02 ms in layers (mean of 1 run), 862 µs for a whole run"
std::string measured_line(const Explanation& explanation, int width) {
  if (!explanation.measured) return "";
  const MeasuredRun& run = *explanation.measured;
  std::string text = "measured";
  if (!run.device.empty()) text += " on " + run.device;
  if (run.total_s > 0) text += fmt::format(": {} in layers", format_seconds(run.total_s));
  if (run.total_s > 0 && run.runs)
    text += fmt::format(" (mean of {} run{})", *run.runs, *run.runs == 1 ? "" : "s");
  if (run.run_s)
    text += fmt::format("{} {} for a whole run without profiling", run.total_s > 0 ? "," : ":",
                        format_seconds(*run.run_s));
  text += "; \"of roof\" compares measured times with the datasheet";
  return wrap(text, width, 2) + "\n";
}

std::string utilization_line(const Explanation& explanation, int width) {
  if (!explanation.utilization) return "";
  return wrap(to_text(*explanation.utilization), width, 2) + "\n";
}

// Measured times that cannot be.
std::string contradictions_text(const Explanation& explanation, int width) {
  const std::string text = contradiction_text(explanation);
  if (text.empty()) return "";
  return wrap("contradiction: " + text + "; suspect " + explanation.measured->suspect, width, 2) +
         "\n";
}

// From here on: two networks. Layers that differ most come first; the others are one line, so that
// the lines add up.
constexpr std::size_t shown_differences = 12;

// "−1.55 ms"; nothing is "0".
std::string signed_seconds(double value) {
  if (value == 0) return "0";
  return (value < 0 ? "−" : "+") + format_seconds(std::abs(value));
}

std::string signed_joules(std::optional<double> value) {
  if (!value) return "";
  if (*value == 0) return "0";
  return (*value < 0 ? "−" : "+") + format_si(std::abs(*value), "J");
}

std::string relative_change(double before, double after) {
  if (before <= 0) return "";
  const double change = after / before - 1;
  return fmt::format("{}{}", change < 0 ? "−" : "+", format_percent(std::abs(change)));
}

std::string total_table(const ExplanationDiff& difference, int width) {
  const Explanation &a = difference.before, &b = difference.after;
  TextTable table{{{""},
                   {"before", Align::right},
                   {"after", Align::right},
                   {"change", Align::right},
                   {"90 % interval after"},
                   {"source"}},
                  {}};
  const auto add = [&](const char* what, const Estimate& before, const Estimate& after,
                       const auto& text) {
    table.rows.push_back({what, text(before.value), text(after.value),
                          relative_change(before.value, after.value),
                          fmt::format("{} to {}", text(after.low), text(after.high)),
                          std::string(to_string(after.source))});
  };
  add("time", a.time_s, b.time_s, [](double value) { return format_seconds(value); });
  if (a.energy_j && b.energy_j)
    add("energy", *a.energy_j, *b.energy_j, [](double value) { return format_si(value, "J"); });
  if (a.power_w && b.power_w)
    add("power", *a.power_w, *b.power_w, [](double value) { return format_si(value, "W"); });
  return render_text(table, width);
}

struct DifferenceSums {
  double before_s = 0, after_s = 0, change_s = 0;
  std::optional<double> change_j = 0;

  void add(const LayerDifference& row) {
    before_s += row.before ? row.before->time_s : 0;
    after_s += row.after ? row.after->time_s : 0;
    change_s += row.time_s();
    change_j =
        change_j && row.energy_j() ? std::optional(*change_j + *row.energy_j()) : std::nullopt;
  }
};

std::string difference_table(const ExplanationDiff& difference, bool all, int width) {
  TextTable table{{{"layer", Align::left, true, 0, 20},
                   {"op", Align::left, false, 1},
                   {"bound", Align::left, false, 2},
                   {"before", Align::right},
                   {"after", Align::right},
                   {"time", Align::right},
                   {"energy", Align::right}},
                  {}};
  const auto& rows = difference.layers;
  const std::size_t count = all ? rows.size() : std::min(rows.size(), shown_differences);
  for (std::size_t i = 0; i < count; ++i) {
    const LayerDifference& row = rows[i];
    const ExplainedLayer& layer = row.after ? *row.after : *row.before;
    table.rows.push_back({row.name(), std::string(to_string(layer.op)),
                          std::string(to_string(layer.bound)),
                          row.before ? format_seconds(row.before->time_s) : "-",
                          row.after ? format_seconds(row.after->time_s) : "-",
                          signed_seconds(row.time_s()), signed_joules(row.energy_j())});
  }
  DifferenceSums rest, total;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    total.add(rows[i]);
    if (i >= count) rest.add(rows[i]);
  }
  const auto add_sum = [&](std::string name, const DifferenceSums& sums) {
    table.rows.push_back({std::move(name), "", "", format_seconds(sums.before_s),
                          format_seconds(sums.after_s), signed_seconds(sums.change_s),
                          signed_joules(sums.change_j)});
  };
  const std::size_t others = rows.size() - count;
  if (others > 0) add_sum(fmt::format("({} other{})", others, others == 1 ? "" : "s"), rest);
  add_sum("total", total);
  std::string text = render_text(table, width);
  if (others > 0) text += "--all shows every layer\n";
  return text;
}

std::string match_line(const ExplanationDiff& difference, int width) {
  std::size_t both = 0, before = 0, after = 0;
  for (const LayerDifference& row : difference.layers)
    ++(row.before && row.after ? both : row.before ? before : after);
  return wrap(fmt::format("layers: {} in both, {} only in {}, {} only in {}; \"-\": not there",
                          both, before, difference.before.run.network, after,
                          difference.after.run.network),
              width, 2) +
         "\n";
}

}  // namespace

std::string explanation_text(const Explanation& explanation, bool all, int width) {
  std::string text = wrap(verdict(explanation), width) + "\n\n" + heading(explanation, width) +
                     totals(explanation, width) + memory_line(explanation.memory, width) +
                     measured_line(explanation, width) + utilization_line(explanation, width) +
                     "\n" + layer_table(explanation, all, width) +
                     contradictions_text(explanation, width) + "\n" +
                     advice_text(explanation, width);
  for (const std::string& note : explanation.run.notes)
    text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

std::string explanation_diff_text(const ExplanationDiff& difference, bool all, int width) {
  const Explanation &a = difference.before, &b = difference.after;
  const auto side = [](const Explanation& explanation) {
    return fmt::format("{}, batch {}, {}", explanation.run.network, explanation.run.batch,
                       to_string(explanation.run.dtype));
  };
  std::string text = wrap(verdict(difference), width, 2) + "\n\n";
  text += wrap(fmt::format("before: {}; after: {}; {} by {} on {}; mode: {}{}", side(a), side(b),
                           a.run.task, to_string(a.runtime), a.run.machine, mode_text(a.point),
                           a.run.locked ? "; clocks locked" : "; clocks left to the governor"),
               width, 2) +
          "\n\n" + total_table(difference, width) + "\n" +
          difference_table(difference, all, width) + match_line(difference, width);
  std::set<std::string> notes;
  for (const Explanation* each : {&a, &b})
    for (const std::string& note : each->run.notes)
      if (notes.insert(note).second) text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

}  // namespace ridgeline
