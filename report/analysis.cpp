// Rows become cells here, and sums over classes and dtypes sentences. What an exporter called a
// layer is shown as it is, cut where it must be; a row without work is hidden unless asked for.
#include "report/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <vector>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string plural(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string classes_text(const Analysis& analysis) {
  struct Share {
    std::size_t layers = 0;
    double operations = 0, bytes = 0;
  };
  std::map<ComputeClass, Share> shares;
  for (const AnalysisRow& row : analysis.rows) {
    Share& share = shares[row.compute_class];
    ++share.layers;
    share.operations += total_operations(row.work);
    share.bytes += total_bytes(row.work);
  }
  const double all_operations = total_operations(analysis.totals.work);
  const double all_bytes = total_bytes(analysis.totals.work);
  std::string text;
  for (const auto& [compute_class, share] : shares) {
    text += text.empty() ? "classes: " : "; ";
    text += fmt::format("{} {}", to_string(compute_class), plural(share.layers, "layer"));
    if (all_operations > 0 && share.operations > 0)
      text += fmt::format(", {} of {}", format_percent(share.operations / all_operations, 1),
                          total_integer_ops(analysis.totals.work) > 0 ? "operations" : "FLOP");
    if (all_bytes > 0 && share.bytes > 0)
      text += fmt::format(", {} of bytes", format_percent(share.bytes / all_bytes, 1));
  }
  return text;
}

// "fp32 on matrix units 99.5 %, fp32 on vector units 0.5 %"
std::string dtypes_text(const Analysis& analysis) {
  const double all = total_operations(analysis.totals.work);
  if (all <= 0) return "";
  std::string text;
  const auto& entries = analysis.totals.work.flop;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)  // matrix units first
    text += fmt::format("{}{} for {} units {}", text.empty() ? "arithmetic: " : ", ",
                        to_string(entry->dtype), to_string(entry->unit),
                        format_percent(entry->flop / all, 1));
  return text;
}

std::string parameters_text(const Analysis& analysis) {
  std::string text = fmt::format("parameters: {} in {}", amount_text(analysis.totals.params),
                                 bytes_text(analysis.totals.parameter_bytes));
  if (analysis.totals.table_bytes > 0)
    text += fmt::format("; constants that training leaves as they are: {}",
                        bytes_text(analysis.totals.table_bytes));
  return text;
}

std::string traffic_text(const Analysis& analysis) {
  const Work& work = analysis.totals.work;
  return fmt::format("bytes: {} of weights read, {} of activations read, {} written",
                     bytes_text(work.weight_bytes_read), bytes_text(work.bytes_read),
                     bytes_text(work.bytes_written + work.weight_bytes_written));
}

std::string alternatives_text(const Analysis& analysis) {
  if (analysis.alternatives.empty()) return "";
  Work work;
  for (const AnalysisRow& row : analysis.alternatives) work += row.work;
  return fmt::format("not in the total: {} of branches that are not taken, {} FLOP, {}",
                     plural(analysis.alternatives.size(), "layer"),
                     amount_text(total_operations(work)), bytes_text(total_bytes(work)));
}

std::string launches_text(const Analysis& analysis) {
  if (!analysis.runtime) return "";
  double launches = 0, silent = 0;
  for (const Demand& demand : analysis.demands) {
    launches += demand.launches;
    silent += demand.host_calls.functions + demand.host_calls.modules;
  }
  std::string text =
      fmt::format("kernels: {} in {} launches", kernel_count(analysis), amount_text(launches));
  if (silent > 0)
    text += fmt::format("; calls of the host that launch nothing: {}", amount_text(silent));
  return text;
}

// ", decode, context 2048, attention fused, fp16": what the words of an option do not say
// themselves comes with its name. Classes and images are in the shapes.
std::string options_text(const Analysis& analysis) {
  std::string text;
  for (const auto& [name, value] : analysis.model.options) {
    if (name == "classes" || name == "image") continue;
    const bool speaks_for_itself = name == "phase" || name == "dtype";
    text += ", " + (speaks_for_itself ? value : name + " " + value);
  }
  return text;
}

std::string training_text(const Analysis& analysis) {
  if (!analysis.training) return "";
  const TrainingOptions& options = analysis.training->options;
  std::string text = fmt::format(", a training step with {}", to_string(options.optimizer));
  if (options.mixed_precision) text += " in mixed precision";
  if (options.checkpoint) text += ", checkpoints";
  if (!options.freeze_until.empty()) text += ", frozen until " + options.freeze_until;
  return text;
}

std::string fusion_text(const Analysis& analysis) {
  double bytes = 0, kernels = 0;
  std::string rules;
  for (const FusionSaving& saving : analysis.fusion) {
    bytes += saving.bytes;
    if (saving.bytes > 0)
      rules +=
          fmt::format("{}{} {}", rules.empty() ? "" : ", ", saving.rule, bytes_text(saving.bytes));
  }
  if (bytes <= 0) return "";
  for (const Demand& demand : analysis.demands) kernels += total_bytes(demand.work);
  return fmt::format("fusion: saves {} of {}: {}", bytes_text(bytes), bytes_text(kernels + bytes),
                     rules);
}

std::string passes_text(const Analysis& analysis) {
  if (!analysis.training) return "";
  const char* title = analysis.runtime ? "training step before fusion: " : "training step: ";
  std::string text;
  for (const auto& [pass, work] : analysis.training->passes) {
    if (total_operations(work) <= 0) continue;
    text += fmt::format("{}{} {} FLOP in {}", text.empty() ? title : ", ", to_string(pass),
                        amount_text(total_operations(work)), bytes_text(total_bytes(work)));
  }
  return text;
}

std::string inference_memory_text(const RunMemory& memory) {
  std::string text =
      fmt::format("memory at its peak: {}: weights {}, activations {}", bytes_text(memory.peak()),
                  bytes_text(memory.weights), bytes_text(memory.activations));
  if (memory.caches > 0) text += ", caches " + bytes_text(memory.caches);
  if (memory.unshared > memory.activations)
    text += fmt::format("; activations without reuse {}", bytes_text(memory.unshared));
  return text;
}

std::string memory_text(const Analysis& analysis) {
  if (!analysis.training)
    return analysis.memory && analysis.memory->peak() > 0 ? inference_memory_text(*analysis.memory)
                                                          : "";
  const RunMemory& memory = analysis.training->memory;
  std::string text = fmt::format("memory at its peak: {}: weights {}", bytes_text(memory.peak()),
                                 bytes_text(memory.weights));
  const std::pair<const char*, double> parts[] = {{"master weights", memory.master_weights},
                                                  {"gradients", memory.gradients},
                                                  {"optimizer state", memory.optimizer_state},
                                                  {"activations", memory.activations},
                                                  {"gradients of activations", memory.transient}};
  for (const auto& [name, bytes] : parts)
    if (bytes > 0) text += fmt::format(", {} {}", name, bytes_text(bytes));
  return text +
         fmt::format("; {} of activations are saved for gradients", bytes_text(memory.saved));
}

std::string masked_text(const Analysis& analysis) {
  double masked = 0;
  for (const AnalysisRow& row : analysis.rows) masked += row.causally_masked_macs;
  if (masked <= 0) return "";
  return fmt::format(
      "causal attention: counted in full; a kernel that knows the mask skips {} MACs",
      amount_text(masked));
}

// "measured: 51.4 µs per run in layers (mean of 1000 runs), 48.0 µs without profiling"
std::string times_text(const Analysis& analysis) {
  if (!analysis.times) return "";
  const KernelTimes& times = *analysis.times;
  std::string text = "measured";
  if (!times.device.empty()) text += " on " + times.device;
  if (times.total_s > 0) {
    text += fmt::format(": {} per run in layers", format_seconds(times.total_s));
    if (times.runs)
      text += fmt::format(" (mean of {})", plural(static_cast<std::size_t>(*times.runs), "run"));
  }
  if (times.run_s)
    text += fmt::format("{} {} for a whole run without profiling", times.total_s > 0 ? "," : ":",
                        format_seconds(*times.run_s));
  return text;
}

using Cells = std::vector<std::string>;

// What a line of the table shows, whether it is a layer, a group or the rest.
struct Line {
  std::string_view name;
  std::string_view second;  // operator, or number of layers
  std::string output;
  const Work* work = nullptr;
  bool is_lower_bound = false;
  std::string note;
  std::optional<double> time_s = {};
  bool is_unknown = false;  // its bytes are known, its arithmetic is not
};

bool is_idle(const Work& work) { return total_operations(work) == 0 && total_bytes(work) == 0; }

std::string note_text(const AnalysisRow& row) {
  std::vector<std::string> notes;  // mostly none
  if (row.repeats != 1) notes.push_back(fmt::format("×{:.6g}", row.repeats));
  if (row.standing != Standing::counted) notes.emplace_back(to_string(row.standing));
  if (row.shapes == ShapeSource::bound) notes.emplace_back("at most");
  if (row.shapes == ShapeSource::unknown) notes.emplace_back("shape unknown");
  // Why it is unknown stands below the table, once for all.
  if (!row.note.empty() && row.compute_class != ComputeClass::unknown) notes.push_back(row.note);
  return notes.empty() ? "" : fmt::format("{}", fmt::join(notes, ", "));
}

// The module, which says more than a node's number, and the node; names that hold the module
// already stay as they are.
std::string_view label_of(const AnalysisRow& row, std::deque<std::string>& words) {
  if (row.module.empty() || !row.sources.empty() || row.name.find('/') != std::string::npos ||
      row.name.starts_with(row.module))
    return row.name;
  const std::string_view name = row.name;
  return words.emplace_back(
      fmt::format("{}/{}", row.module, name.starts_with("node_") ? name.substr(5) : name));
}

Line line_of(const AnalysisRow& row, std::deque<std::string>& words) {
  return {label_of(row, words), row.op,
          output_text(row),     &row.work,
          !row.unsized.empty(), note_text(row),
          row.time_s,           row.compute_class == ComputeClass::unknown};
}

// The lines look into rows of the analysis, or into what is kept beside them.
struct Lines {
  std::vector<Line> shown;
  std::size_t hidden = 0;  // without work
  std::vector<RowGroup> groups;
  std::deque<std::string> words;
  Work rest;
};

// Beyond the top, the rest is one line, so that the lines still add up to the total.
void keep_top(Lines& lines, std::size_t top) {
  if (lines.shown.size() <= top) return;
  const std::size_t others = lines.shown.size() - top;
  Line rest;
  rest.name = lines.words.emplace_back(fmt::format("({} other{})", others, others == 1 ? "" : "s"));
  rest.work = &lines.rest;
  for (std::size_t i = top; i < lines.shown.size(); ++i) {
    lines.rest += *lines.shown[i].work;
    rest.is_lower_bound = rest.is_lower_bound || lines.shown[i].is_lower_bound;
    if (lines.shown[i].time_s) rest.time_s = rest.time_s.value_or(0) + *lines.shown[i].time_s;
  }
  lines.shown.resize(top);
  lines.shown.push_back(std::move(rest));
}

void add_groups(Lines& lines, const Analysis& analysis, const TableOptions& options) {
  lines.groups = group_rows(analysis.rows, *options.group_by, options.module_depth, options.order);
  for (const RowGroup& group : lines.groups) {
    if (!options.all && is_idle(group.work) && !group.time_s) {
      ++lines.hidden;
      continue;
    }
    const std::string& layers = lines.words.emplace_back(std::to_string(group.layers));
    const std::string_view name =
        group.depth == 0 ? group.name
                         : lines.words.emplace_back(std::string(2 * group.depth, ' ') +
                                                    group.name.substr(group.name.rfind('.') + 1));
    lines.shown.push_back({name, layers, "", &group.work, group.is_lower_bound, "", group.time_s});
  }
}

void add_rows(Lines& lines, const Analysis& analysis, const TableOptions& options) {
  for (const AnalysisRow* row : sorted_rows(analysis.rows, options.order)) {
    const bool is_shown = options.all || row->compute_class == ComputeClass::unknown ||
                          !is_idle(row->work) || row->time_s.value_or(0) > 0;
    if (is_shown)
      lines.shown.push_back(line_of(*row, lines.words));
    else
      ++lines.hidden;
  }
}

Lines lines_of(const Analysis& analysis, const TableOptions& options) {
  Lines lines;
  if (options.group_by)
    add_groups(lines, analysis, options);
  else
    add_rows(lines, analysis, options);
  if (options.top) keep_top(lines, *options.top);
  return lines;
}

struct Shown {  // which columns there are
  bool output, macs, int_ops, note;
  bool time = false;  // measured
};

Shown columns_of(const Analysis& analysis, const TableOptions& options, const Lines& lines) {
  return {!options.group_by, analysis.rules == Rules::ridgeline,
          total_integer_ops(analysis.totals.work) > 0,
          std::any_of(lines.shown.begin(), lines.shown.end(),
                      [](const Line& line) { return !line.note.empty(); }),
          analysis.times && analysis.times->total_s > 0};
}

// Enough for nine of ten names, counting the end of a path that tells layers apart.
int width_of_names(const Lines& lines) {
  constexpr int telling = 20;
  std::vector<int> widths;
  for (const Line& line : lines.shown) widths.push_back(display_width(line.name));
  if (widths.empty()) return 0;
  const auto ninth = widths.begin() + std::ssize(widths) * 9 / 10;
  std::nth_element(widths.begin(), ninth, widths.end());
  return std::min(*ninth, telling);
}

std::vector<Column> columns(const TableOptions& options, const Shown& shown, const Lines& lines) {
  const bool grouped = options.group_by.has_value();
  std::vector<Column> list{{grouped ? std::string(to_string(*options.group_by)) : "layer",
                            Align::left, true, 0, width_of_names(lines)}};
  list.push_back(grouped ? Column{"layers", Align::right} : Column{"op", Align::left, true});
  if (shown.output) list.push_back({"output", Align::left, false, 3});
  if (shown.macs) list.push_back({"MACs", Align::right, false, 1});
  list.push_back({"FLOP", Align::right});
  if (shown.int_ops) list.push_back({"OP", Align::right});
  list.push_back({"bytes", Align::right});
  list.push_back({shown.int_ops ? "OP/byte" : "FLOP/byte", Align::right});
  if (shown.time) list.push_back({"time", Align::right});
  list.push_back({shown.time ? "of time" : "share", Align::right, false, shown.time ? 0 : 2});
  if (shown.note) list.push_back({"note", Align::left, true});
  return list;
}

// `all` is what the last column is a share of: measured seconds, or operations.
Cells cells_of(const Line& line, double all, const Shown& shown) {
  const Work& work = *line.work;
  Cells cells;
  cells.reserve(10);
  cells.emplace_back(line.name);
  cells.emplace_back(line.second);
  if (shown.output) cells.push_back(line.output);
  const auto counted = [&](double amount) {
    return line.is_unknown && amount == 0 ? "?" : amount_text(amount);
  };
  if (shown.macs) cells.push_back(counted(work.macs));
  cells.push_back(counted(total_flop(work)));
  if (shown.int_ops) cells.push_back(counted(total_integer_ops(work)));
  cells.push_back(bytes_text(total_bytes(work), line.is_lower_bound));
  cells.push_back(
      line.is_unknown ? "?" : intensity_text(line.is_lower_bound ? std::nullopt : intensity(work)));
  if (shown.time) cells.push_back(line.time_s ? format_seconds(*line.time_s) : "");
  const auto part = shown.time ? line.time_s : std::optional(total_operations(work));
  const bool is_open = line.is_unknown && !shown.time;
  cells.push_back(is_open ? "?" : all > 0 && part ? format_percent(*part / all, 1) : "");
  if (shown.note) cells.push_back(line.note);
  return cells;
}

double whole_of(const Analysis& analysis, const Shown& shown) {
  return shown.time ? analysis.times->total_s : total_operations(analysis.totals.work);
}

// Measured time that belongs to no row, so that the lines add up to the total.
void add_other_times(TextTable& table, const Analysis& analysis, const Shown& shown) {
  const Work none;
  const auto add = [&](const char* name, double time_s) {
    if (!shown.time || !(time_s > 0)) return;
    table.rows.push_back(
        cells_of({name, "", "", &none, false, "", time_s}, analysis.times->total_s, shown));
  };
  add("(shared kernels)", analysis.times ? analysis.times->shared_s : 0);
  add("(other kernels)", analysis.times ? analysis.times->other_s : 0);
}

Cells total_cells(const Analysis& analysis, const TableOptions& options, const Shown& shown) {
  Line line{"total", "", "", &analysis.totals.work, false, "", {}};
  if (analysis.times) line.time_s = analysis.times->total_s;
  for (const AnalysisRow& row : analysis.rows)
    line.is_lower_bound = line.is_lower_bound || !row.unsized.empty();
  const std::string layers = std::to_string(analysis.totals.layers);
  if (options.group_by) line.second = layers;
  return cells_of(line, whole_of(analysis, shown), shown);
}

TextTable table_of(const Analysis& analysis, const TableOptions& options, const Lines& lines) {
  const Shown shown = columns_of(analysis, options, lines);
  const double all = whole_of(analysis, shown);
  TextTable table{columns(options, shown, lines), {}};
  table.rows.reserve(lines.shown.size() + 1);
  for (const Line& line : lines.shown) table.rows.push_back(cells_of(line, all, shown));
  add_other_times(table, analysis, shown);
  table.rows.push_back(total_cells(analysis, options, shown));
  return table;
}

std::string hidden_text(const Lines& lines, const TableOptions& options) {
  if (lines.hidden == 0) return "";
  return fmt::format("{} {}{} without work {} not shown; --all shows {}", lines.hidden,
                     options.group_by ? "group" : "layer", lines.hidden == 1 ? "" : "s",
                     lines.hidden == 1 ? "is" : "are", lines.hidden == 1 ? "it" : "them");
}

std::string csv_amount(double amount) {
  return amount < 0x1p53 && amount == std::floor(amount) ? fmt::format("{:.0f}", amount)
                                                         : csv_number(amount);
}

Cells csv_amounts(const Work& work, Rules rules, const std::optional<double>& flop_per_byte) {
  const bool own = rules == Rules::ridgeline;
  return {own ? csv_amount(work.macs) : "",
          csv_amount(total_flop(work)),
          own ? csv_amount(total_integer_ops(work)) : "",
          own ? csv_amount(work.transcendentals) : "",
          csv_amount(work.bytes_read + work.weight_bytes_read),
          csv_amount(work.bytes_written + work.weight_bytes_written),
          csv_amount(work.weight_bytes_read),
          flop_per_byte ? csv_number(*flop_per_byte) : ""};
}

const Cells amount_titles{"macs",       "flops",         "int_ops",      "transcendentals",
                          "bytes_read", "bytes_written", "weight_bytes", "intensity"};

std::string csv_line(Cells head, const Cells& amounts, const Cells& tail = {}) {
  head.insert(head.end(), amounts.begin(), amounts.end());
  head.insert(head.end(), tail.begin(), tail.end());
  return csv_row(head);
}

// Only with times is there a column for them.
Cells measured_cells(const Analysis& analysis,
                     std::initializer_list<std::optional<double>> times_s) {
  Cells cells;
  if (!analysis.times) return cells;
  for (const auto& time_s : times_s) cells.push_back(time_s ? csv_number(*time_s) : "");
  return cells;
}

std::string heading_text(const Analysis& analysis) {
  std::string text = model_name(analysis) + ": ";
  if (analysis.runtime) {
    text += fmt::format("{} of {}", plural(kernel_count(analysis), "kernel"),
                        to_string(*analysis.runtime));
  } else {
    const auto counted = static_cast<std::size_t>(
        std::count_if(analysis.rows.begin(), analysis.rows.end(),
                      [](const AnalysisRow& row) { return row.standing == Standing::counted; }));
    text += plural(analysis.totals.layers, "layer");
    if (counted != analysis.totals.layers) text += fmt::format(" ({} at run time)", counted);
  }
  text += analysis.batch ? fmt::format(", batch {}", *analysis.batch) : ", no batch";
  text += options_text(analysis) + training_text(analysis);
  text += ", " + shapes_text(analysis);
  text += fmt::format("; counted from the {} by the rules {}",
                      analysis.model.format == "workload" ? "network's definition" : "file",
                      rules_text(analysis));
  if (!analysis.runtime) text += ", unfused";
  if (!analysis.weights_file.empty()) text += ", costs of " + analysis.weights_file;
  return text;
}

std::vector<std::string> fact_texts(const Analysis& analysis, const std::string& hidden) {
  std::vector<std::string> facts{parameters_text(analysis),
                                 traffic_text(analysis),
                                 classes_text(analysis),
                                 dtypes_text(analysis),
                                 masked_text(analysis),
                                 launches_text(analysis),
                                 times_text(analysis),
                                 analysis.mapping ? to_text(*analysis.mapping) : "",
                                 fusion_text(analysis),
                                 passes_text(analysis),
                                 memory_text(analysis),
                                 alternatives_text(analysis),
                                 hidden};
  if (!analysis.unknown.empty())
    facts.push_back(unknown_text(analysis.unknown) + "; counted as moving data only");
  const auto warnings = warning_texts(analysis);
  facts.insert(facts.end(), warnings.begin(), warnings.end());
  std::erase(facts, "");
  return facts;
}

}  // namespace

std::string model_name(const Analysis& analysis) {
  return std::filesystem::path(analysis.model.path).filename().string();
}

std::string amount_text(double amount) {
  return amount < 1000 && amount == static_cast<double>(static_cast<int>(amount))
             ? std::to_string(static_cast<int>(amount))
             : format_si(amount, "");
}

std::string bytes_text(double bytes, bool is_lower_bound) {
  const std::string text = bytes < 1000 ? fmt::format("{:.0f} B", bytes) : format_si(bytes, "B");
  return is_lower_bound ? "≥ " + text : text;
}

std::string intensity_text(const std::optional<double>& flop_per_byte) {
  return flop_per_byte ? format_number(*flop_per_byte) : "";
}

std::string analysis_text(const Analysis& analysis, const TableOptions& options, int width) {
  const Lines lines = lines_of(analysis, options);
  std::string text = wrap(heading_text(analysis), width, 2) + "\n\n";
  text += render_text(table_of(analysis, options, lines), width) + "\n";
  for (const std::string& fact : fact_texts(analysis, hidden_text(lines, options)))
    text += wrap(fact, width, 2) + "\n";
  return text;
}

std::string analysis_markdown(const Analysis& analysis, const TableOptions& options) {
  const Lines lines = lines_of(analysis, options);
  std::string text = heading_text(analysis) + "\n\n";
  text += render_markdown(table_of(analysis, options, lines)) + "\n";
  for (const std::string& fact : fact_texts(analysis, hidden_text(lines, options)))
    text += "- " + fact + "\n";
  return text;
}

std::string analysis_csv(const Analysis& analysis, const TableOptions& options) {
  std::string text;
  const auto limit = options.top.value_or(static_cast<std::size_t>(-1));
  if (options.group_by) {
    auto groups = group_rows(analysis.rows, *options.group_by, options.module_depth, options.order);
    groups.resize(std::min(groups.size(), limit));
    text = csv_line({std::string(to_string(*options.group_by)), "layers"}, amount_titles,
                    analysis.times ? Cells{"time_s"} : Cells{});
    for (const RowGroup& group : groups)
      text += csv_line({group.name, std::to_string(group.layers)},
                       csv_amounts(group.work, analysis.rules,
                                   group.is_lower_bound ? std::nullopt : intensity(group.work)),
                       measured_cells(analysis, {group.time_s}));
    return text;
  }
  auto rows = sorted_rows(analysis.rows, options.order);
  rows.resize(std::min(rows.size(), limit));
  Cells titles{"repeats", "standing", "shapes", "note", "module"};
  if (analysis.times) titles.insert(titles.end(), {"time_s", "median_s"});
  text = csv_line({"layer", "op", "class", "dtype", "output"}, amount_titles, titles);
  for (const AnalysisRow* row : rows) {
    Cells tail{csv_amount(row->repeats), std::string(to_string(row->standing)),
               std::string(to_string(row->shapes)), row->note, row->module};
    for (std::string& cell : measured_cells(analysis, {row->time_s, row->median_s}))
      tail.push_back(std::move(cell));
    text += csv_line({row->name, row->op, std::string(to_string(row->compute_class)),
                      std::string(row->dtype), output_text(*row)},
                     csv_amounts(row->work, analysis.rules, intensity(*row)), tail);
  }
  return text;
}

std::size_t kernel_count(const Analysis& analysis) {
  return static_cast<std::size_t>(
      std::count_if(analysis.demands.begin(), analysis.demands.end(),
                    [](const Demand& demand) { return demand.launches > 0; }));
}

std::string shapes_text(const Analysis& analysis) {
  switch (least_sure_shapes(analysis)) {
    case ShapeSource::fixed:
      return analysis.model.format == "workload" ? "shapes as published" : "shapes of the file";
    case ShapeSource::given:
      return "shapes as given";
    case ShapeSource::assumed:
      return "free dimensions as assumed";
    case ShapeSource::declared:
      return "some shapes as the file declares them";
    case ShapeSource::bound:
      return "some shapes are upper bounds";
    case ShapeSource::unknown:
      return "some shapes are unknown";
  }
  return "";
}

std::string rules_text(const Analysis& analysis) {
  const std::string rules(to_string(analysis.rules));
  return analysis.rule_options.empty() ? rules : rules + "," + analysis.rule_options;
}

std::vector<std::string> warning_texts(const Analysis& analysis) {
  constexpr std::size_t most = 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(most, analysis.warnings.size()); ++i)
    lines.push_back("warning: " + analysis.warnings[i]);
  if (analysis.warnings.size() > most)
    lines.push_back(fmt::format("and {} (--json lists them)",
                                plural(analysis.warnings.size() - most, "more warning")));
  return lines;
}

}  // namespace ridgeline
