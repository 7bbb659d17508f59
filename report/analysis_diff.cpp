// One table of totals and one of layers, each rendered for the terminal or as Markdown.
// What is the same in both is a number only.
#include "report/analysis_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/analysis.h"

namespace ridgeline {
namespace {

using Render = std::function<std::string(const TextTable&)>;

std::string small_change(double ratio) {
  const double percent = 100 * (ratio - 1);
  return std::abs(percent) < 0.005
             ? (percent > 0 ? "+<0.01 %" : "−<0.01 %")
             : fmt::format("{}{:.2f} %", percent > 0 ? "+" : "−", std::abs(percent));
}

// "×1.217"; where that would say nothing, "+0.02 %".
std::string ratio_text(double before, double after) {
  if (before == after) return "same";
  if (before == 0) return "";
  const double ratio = after / before;
  return std::abs(ratio - 1) < 0.005 ? small_change(ratio) : "×" + format_number(ratio, 4);
}

std::string change(const std::string& before, const std::string& after) {
  return before == after ? before : before + " → " + after;
}

// Amounts that read the same may differ all the same.
std::string change(double before, double after, std::string (*text)(double)) {
  const std::string a = text(before), b = text(after);
  const bool differ_unseen = a == b && before != after && before != 0;
  return differ_unseen ? a + " " + small_change(after / before) : change(a, b);
}

std::string bytes_alone(double bytes) { return bytes_text(bytes); }

TextTable totals_table(const AnalysisDiff& difference) {
  const Totals &a = difference.before.totals, &b = difference.after.totals;
  TextTable table{{{"total"},
                   {model_name(difference.before), Align::right, true},
                   {model_name(difference.after), Align::right, true},
                   {"ratio", Align::right}},
                  {}};
  const auto add = [&](const char* name, double before, double after, bool are_bytes = false) {
    if (before == 0 && after == 0) return;
    table.rows.push_back({name, are_bytes ? bytes_text(before) : amount_text(before),
                          are_bytes ? bytes_text(after) : amount_text(after),
                          ratio_text(before, after)});
  };
  add("MACs", a.work.macs, b.work.macs);
  add("FLOP", total_flop(a.work), total_flop(b.work));
  add("OP", total_integer_ops(a.work), total_integer_ops(b.work));
  add("transcendentals", a.work.transcendentals, b.work.transcendentals);
  add("bytes", total_bytes(a.work), total_bytes(b.work), true);
  add("weights read", a.work.weight_bytes_read, b.work.weight_bytes_read, true);
  const auto before = intensity(a.work), after = intensity(b.work);
  if (before && after)
    table.rows.push_back(
        {"FLOP/byte", intensity_text(before), intensity_text(after), ratio_text(*before, *after)});
  add("parameters", a.params, b.params);
  add("parameter bytes", a.parameter_bytes, b.parameter_bytes, true);
  if (difference.before.runtime)
    add("kernels", static_cast<double>(kernel_count(difference.before)),
        static_cast<double>(kernel_count(difference.after)));
  else
    add("layers", static_cast<double>(a.layers), static_cast<double>(b.layers));
  return table;
}

// Of a kernel, the layer that it is named after.
std::string first_name(const std::string& name) { return name.substr(0, name.find(" + ")); }

// Blocks of a network repeat: lines that say the same about several layers are one line with their
// number, under the name of the first.
class LayerTable {
 public:
  LayerTable(std::vector<Column> columns, std::optional<std::size_t> limit)
      : columns_(std::move(columns)), limit_(limit) {}

  void add(std::string name, std::vector<std::string> cells) {
    std::string key = fmt::format("{}", fmt::join(cells, "\n"));
    const auto [found, is_new] = line_of_.emplace(std::move(key), lines_.size());
    if (is_new) lines_.push_back({std::move(name), std::move(cells), 0});
    ++lines_[found->second].layers;
  }

  bool empty() const { return lines_.empty(); }

  // Below the table, where some lines are left out: how many layers that are.
  std::string render(const Render& render) const {
    const bool numbered =
        std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.layers > 1; });
    TextTable table{columns_, {}};
    if (numbered) table.columns.push_back({"layers", Align::right});
    std::size_t left_out = 0;
    for (const Line& line : lines_) {
      if (limit_ && table.rows.size() == *limit_) {
        left_out += line.layers;
        continue;
      }
      auto& row = table.rows.emplace_back();
      row.push_back(line.name);
      row.insert(row.end(), line.cells.begin(), line.cells.end());
      if (numbered) row.push_back(std::to_string(line.layers));
    }
    std::string text = render(table);
    if (left_out > 0) text += fmt::format("\nand {} more\n", left_out);
    return text;
  }

 private:
  struct Line {
    std::string name;
    std::vector<std::string> cells;
    std::size_t layers = 0;
  };
  std::vector<Column> columns_;
  std::optional<std::size_t> limit_;
  std::vector<Line> lines_;
  std::unordered_map<std::string, std::size_t> line_of_;
};

constexpr int telling = 20;  // columns of a name that is the end of a path

// What the columns beside it do not show.
std::vector<std::string> other_differences(const ChangedLayer& layer) {
  std::vector<std::string> what = layer.what;
  const bool bytes_differ = std::find(what.begin(), what.end(), "bytes") != what.end();
  std::erase_if(what, [&](const std::string& word) {
    return word == "flops" || word == "int_ops" || word == "bytes" ||
           (word == "weight_bytes" && bytes_differ);
  });
  return what;
}

LayerTable changed_table(const AnalysisDiff& difference, std::optional<std::size_t> limit) {
  LayerTable table({{"changed", Align::left, true, 0, telling},
                    {"op", Align::left, true, 2},
                    {"output", Align::left, true, 3},
                    {"FLOP", Align::right},
                    {"bytes", Align::right},
                    {"also", Align::left, true}},
                   limit);
  for (const ChangedLayer& layer : difference.changed) {
    const AnalysisRow &a = layer.before, &b = layer.after;
    // Of a module the name is enough; formats write it in different ways.
    const bool is_named = layer.matched_by == MatchedBy::module;
    table.add(is_named ? a.name : change(first_name(a.name), first_name(b.name)),
              {change(a.op, b.op), change(output_text(a), output_text(b)),
               change(total_operations(a.work), total_operations(b.work), amount_text),
               change(total_bytes(a.work), total_bytes(b.work), bytes_alone),
               fmt::format("{}", fmt::join(other_differences(layer), ", "))});
  }
  return table;
}

LayerTable list_table(const char* title, const std::vector<AnalysisRow>& rows,
                      std::optional<std::size_t> limit) {
  LayerTable table({{title, Align::left, true, 0, telling},
                    {"op", Align::left, true},
                    {"output", Align::left, false, 1},
                    {"FLOP", Align::right},
                    {"bytes", Align::right}},
                   limit);
  for (const AnalysisRow& row : rows)
    table.add(row.name, {row.op, output_text(row), amount_text(total_operations(row.work)),
                         bytes_text(total_bytes(row.work), !row.unsized.empty())});
  return table;
}

std::string heading(const AnalysisDiff& difference) {
  std::string text = model_name(difference.before) + " → " + model_name(difference.after);
  if (difference.before.batch == difference.after.batch && difference.before.batch)
    text += fmt::format("; batch {}", *difference.before.batch);
  text += fmt::format("; {}, {}", shapes_text(difference.before), shapes_text(difference.after));
  text += fmt::format("; counted by the rules {}, {}", rules_text(difference.before),
                      difference.before.runtime
                          ? fmt::format("kernels of {}", to_string(*difference.before.runtime))
                          : std::string("unfused"));
  return text;
}

std::string summary(const AnalysisDiff& difference) {
  return fmt::format("{}: {} the same, {} changed, {} removed, {} added",
                     difference.before.runtime ? "kernels" : "layers at run time", difference.same,
                     difference.changed.size(), difference.removed.size(), difference.added.size());
}

std::string tables(const AnalysisDiff& difference, std::optional<std::size_t> top,
                   const Render& render) {
  std::string text = render(totals_table(difference)) + "\n";
  for (const LayerTable& layers :
       {changed_table(difference, top), list_table("removed", difference.removed, top),
        list_table("added", difference.added, top)})
    if (!layers.empty()) text += layers.render(render) + "\n";
  return text;
}

std::vector<std::string> remarks(const AnalysisDiff& difference) {
  std::vector<std::string> lines{summary(difference)};
  for (const Analysis* side : {&difference.before, &difference.after}) {
    const std::string name = model_name(*side);
    if (!side->unknown.empty()) lines.push_back(name + ": " + unknown_text(side->unknown));
    for (const std::string& warning : warning_texts(*side)) lines.push_back(name + ": " + warning);
  }
  return lines;
}

}  // namespace

std::string diff_text(const AnalysisDiff& difference, std::optional<std::size_t> top, int width) {
  std::string text = wrap(heading(difference), width, 2) + "\n\n";
  text +=
      tables(difference, top, [&](const TextTable& table) { return render_text(table, width); });
  for (const std::string& line : remarks(difference)) text += wrap(line, width, 2) + "\n";
  return text;
}

std::string diff_markdown(const AnalysisDiff& difference, std::optional<std::size_t> top) {
  std::string text = heading(difference) + "\n\n" + tables(difference, top, render_markdown);
  for (const std::string& line : remarks(difference)) text += "- " + line + "\n";
  return text;
}

std::string diff_csv(const AnalysisDiff& difference) {
  std::string text = csv_row({"change", "layer_before", "layer_after", "op_before", "op_after",
                              "what", "macs_before", "macs_after", "flops_before", "flops_after",
                              "int_ops_before", "int_ops_after", "bytes_before", "bytes_after"});
  const auto add = [&](const char* kind, const AnalysisRow* a, const AnalysisRow* b,
                       const std::string& what) {
    const auto words = [](const AnalysisRow* row, auto member) {
      return row ? row->*member : std::string();
    };
    const auto number = [](const AnalysisRow* row, auto of) {
      return row ? csv_number(of(row->work)) : std::string();
    };
    const auto macs = [](const Work& work) { return work.macs; };
    text += csv_row({kind, words(a, &AnalysisRow::name), words(b, &AnalysisRow::name),
                     words(a, &AnalysisRow::op), words(b, &AnalysisRow::op), what, number(a, macs),
                     number(b, macs), number(a, total_flop), number(b, total_flop),
                     number(a, total_integer_ops), number(b, total_integer_ops),
                     number(a, total_bytes), number(b, total_bytes)});
  };
  for (const ChangedLayer& layer : difference.changed)
    add("changed", &layer.before, &layer.after, fmt::format("{}", fmt::join(layer.what, " ")));
  for (const AnalysisRow& row : difference.removed) add("removed", &row, nullptr, "");
  for (const AnalysisRow& row : difference.added) add("added", nullptr, &row, "");
  return text;
}

}  // namespace ridgeline
