// Times if both engines have them, else bytes: one pair of columns decides the order.
#include "report/engine_diff.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/analysis.h"

namespace ridgeline {
namespace {

using tensorrt::ComparedEngine;
using tensorrt::ComparedLayer;
using tensorrt::EngineDiff;
using tensorrt::EngineLayer;
using tensorrt::LayerCost;

using RenderTable = std::function<std::string(const TextTable&)>;

std::string side_words(const char* side, const ComparedEngine& compared) {
  std::string text = fmt::format("{}: {}, {}", side,
                                 std::filesystem::path(compared.engine.path).filename().string(),
                                 version_text(compared.engine));
  if (!compared.engine.device.empty()) text += ", " + compared.engine.device;
  return printable(text);
}

std::string ratio_words(double before, double after) {
  return before > 0 ? "×" + format_number(after / before, 3) : "";
}

std::size_t busy_count(const EngineDiff& difference, bool is_before) {
  return difference.matched.size() +
         (is_before ? difference.removed.size() : difference.added.size());
}

TextTable sides_table(const EngineDiff& difference) {
  const ComparedEngine &a = difference.before, &b = difference.after;
  TextTable table{{{"total"},
                   {"before", Align::right},
                   {"after", Align::right},
                   {"ratio", Align::right},
                   {"source"}},
                  {}};
  const std::size_t layers_a = busy_count(difference, true),
                    layers_b = busy_count(difference, false);
  table.rows.push_back({"layers", std::to_string(layers_a), std::to_string(layers_b),
                        ratio_words(static_cast<double>(layers_a), static_cast<double>(layers_b)),
                        "counted"});
  table.rows.push_back({"bytes", bytes_text(total_bytes(a)), bytes_text(total_bytes(b)),
                        ratio_words(total_bytes(a), total_bytes(b)), "counted"});
  if (a.time_s || b.time_s)
    table.rows.push_back({"time", a.time_s ? format_seconds(*a.time_s) : "",
                          b.time_s ? format_seconds(*b.time_s) : "",
                          a.time_s && b.time_s ? ratio_words(*a.time_s, *b.time_s) : "",
                          "measured"});
  return table;
}

std::string cost_words(const LayerCost& cost, bool has_times) {
  if (!has_times) return bytes_text(cost.bytes);
  return cost.time_s ? format_seconds(*cost.time_s) : "";
}

std::string change_words(const std::string& before, const std::string& after) {
  return before == after ? before : before + " ⇒ " + after;
}

bool has_times(const EngineDiff& difference) {
  return difference.before.time_s && difference.after.time_s;
}

// A list of layers with a title; nothing if it is empty.
std::string list_text(const std::string& title, TextTable table, std::size_t count,
                      const RenderTable& render) {
  if (count == 0) return {};
  const std::size_t shown = table.rows.size();
  std::string text = fmt::format("\n{} ({})\n\n", title, count) + render(table);
  if (shown < count) text += fmt::format("and {} more\n", count - shown);
  return text;
}

std::string lists(const EngineDiff& difference, std::optional<std::size_t> top,
                  const RenderTable& render) {
  const bool timed = has_times(difference);
  const char* const cost = timed ? "time" : "bytes";
  TextTable changed{{{fmt::format("{} before", cost), Align::right},
                     {"after", Align::right},
                     {"types", Align::left},
                     {"what", Align::left, false, 1},
                     {"layer", Align::left, true, 0, 24}},
                    {}};
  std::size_t count = 0, same = 0;
  for (const ComparedLayer& pair : difference.matched) {
    if (pair.what.empty()) {
      ++same;
      continue;
    }
    ++count;
    if (top && changed.rows.size() == *top) continue;
    const EngineLayer& before = difference.before.engine.layers[pair.before];
    const EngineLayer& after = difference.after.engine.layers[pair.after];
    changed.rows.push_back({cost_words(difference.before.costs[pair.before], timed),
                            cost_words(difference.after.costs[pair.after], timed),
                            change_words(types_text(before), types_text(after)),
                            fmt::format("{}", fmt::join(pair.what, ", ")),
                            printable(change_words(before.name, after.name))});
  }
  std::string text = list_text("changed", std::move(changed), count, render);
  const auto one_sided = [&](const char* title, const ComparedEngine& side,
                             const std::vector<std::size_t>& indices) {
    TextTable table{{{cost, Align::right}, {"types"}, {"type"}, {"layer", Align::left, true}}, {}};
    for (const std::size_t index : indices) {
      if (top && table.rows.size() == *top) break;
      const EngineLayer& layer = side.engine.layers[index];
      table.rows.push_back({cost_words(side.costs[index], timed), types_text(layer),
                            printable(layer.type), printable(layer.name)});
    }
    text += list_text(title, std::move(table), indices.size(), render);
  };
  one_sided("only before", difference.before, difference.removed);
  one_sided("only after", difference.after, difference.added);
  text += fmt::format("\n{} of {} matched layers are the same\n", same, difference.matched.size());
  return text;
}

}  // namespace

std::string engine_diff_text(const EngineDiff& difference, std::optional<std::size_t> top,
                             int width) {
  const RenderTable render = [&](const TextTable& table) { return render_text(table, width); };
  return paragraph(side_words("before", difference.before), width) +
         paragraph(side_words("after", difference.after), width) + "\n" +
         render(sides_table(difference)) + lists(difference, top, render);
}

std::string engine_diff_markdown(const EngineDiff& difference, std::optional<std::size_t> top) {
  return fmt::format("{}\n\n{}\n\n", side_words("before", difference.before),
                     side_words("after", difference.after)) +
         render_markdown(sides_table(difference)) + lists(difference, top, render_markdown);
}

std::string engine_diff_csv(const EngineDiff& difference) {
  std::string text = csv_row({"match", "what", "name_before", "name_after", "types_before",
                              "types_after", "tactic_before", "tactic_after", "bytes_before",
                              "bytes_after", "time_s_before", "time_s_after"});
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  const auto row = [&](const std::string& match, const std::string& what,
                       std::optional<std::size_t> before, std::optional<std::size_t> after) {
    const EngineLayer none;
    const EngineLayer& a = before ? difference.before.engine.layers[*before] : none;
    const EngineLayer& b = after ? difference.after.engine.layers[*after] : none;
    const LayerCost *cost_a = before ? &difference.before.costs[*before] : nullptr,
                    *cost_b = after ? &difference.after.costs[*after] : nullptr;
    text += csv_row({match, what, a.name, b.name, types_text(a), types_text(b), a.tactic, b.tactic,
                     cost_a ? number(cost_a->bytes) : "", cost_b ? number(cost_b->bytes) : "",
                     cost_a ? number(cost_a->time_s) : "", cost_b ? number(cost_b->time_s) : ""});
  };
  for (const ComparedLayer& pair : difference.matched)
    row(std::string(to_string(pair.matched_by)), fmt::format("{}", fmt::join(pair.what, " ")),
        pair.before, pair.after);
  for (const std::size_t index : difference.removed) row("", "removed", index, std::nullopt);
  for (const std::size_t index : difference.added) row("", "added", std::nullopt, index);
  return text;
}

}  // namespace ridgeline
