// Layers that differ most come first; the others are one line, so that the lines add up.
#include "report/explanation_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "plots/figures/roofline.h"

namespace ridgeline {
namespace {

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
