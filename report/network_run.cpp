// The totals come first, then where the time went.
#include "report/network_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "roofline/explain/measured.h"

namespace ridgeline {
namespace {

constexpr std::size_t shown_rows = 10, shown_operators = 6;

std::string time_text(double value) { return format_seconds(value); }
std::string clock_text(double value) { return format_hz(value); }
std::string power_text(double value) { return format_si(value, "W"); }
std::string energy_text(double value) { return format_si(value, "J"); }

// On the GPU one thread launches all kernels, whatever else is chosen.
bool is_on_gpu(const ReportedRun& reported) { return reported.runtime == Runtime::tensorrt; }

std::string threads_text(const NetworkRun& run) {
  return fmt::format("{} thread{}", run.threads, run.threads == 1 ? "" : "s");
}

// What was predicted for a measured row: all kernels of that layer and phase together.
struct PredictedRow {
  OpClass op = OpClass::other;
  double time_s = 0, least_s = 0;  // least: of the roof, by the measured share
  double measured_s = 0;
};

using RowKey = std::pair<std::string, StepPhase>;

// Layers of the explanation have the names of Demands: a layer, "layer.<gradient>", "p.update".
// The kernels of a layer's backward pass start with its name.
std::map<RowKey, PredictedRow> predicted_rows(const ReportedRun& reported) {
  std::map<RowKey, PredictedRow> rows;
  if (!reported.explanation) return rows;
  for (const LayerTime& layer : reported.run.layers) rows[{layer.name, layer.phase}];
  for (const ExplainedLayer& layer : reported.explanation->layers) {
    auto found = rows.find({layer.name, StepPhase::forward});
    if (found == rows.end()) found = rows.find({layer.name, StepPhase::update});
    for (std::size_t dot = layer.name.rfind('.'); found == rows.end() && dot != std::string::npos;
         dot = dot == 0 ? std::string::npos : layer.name.rfind('.', dot - 1))
      found = rows.find({layer.name.substr(0, dot), StepPhase::backward});
    if (found == rows.end()) continue;
    PredictedRow& row = found->second;
    row.op = layer.op;
    row.time_s += layer.time_s;
    if (layer.measured_s && layer.measured_roof_share) {
      row.measured_s += *layer.measured_s;
      row.least_s += *layer.measured_roof_share * *layer.measured_s;
    }
  }
  return rows;
}

struct RunRow {
  LayerTime layer;
  std::optional<PredictedRow> predicted;
};

std::vector<RunRow> run_rows(const ReportedRun& reported) {
  const auto predicted = predicted_rows(reported);
  std::vector<RunRow> rows;
  for (const LayerTime& layer : reported.run.layers) {
    const auto found = predicted.find({layer.name, layer.phase});
    rows.push_back({layer, found == predicted.end() ? std::nullopt : std::optional(found->second)});
  }
  return rows;
}

std::optional<double> roof_share(const RunRow& row) {
  if (!row.predicted || !(row.predicted->measured_s > 0)) return std::nullopt;
  return row.predicted->least_s / row.predicted->measured_s;
}

double layers_s(const ReportedRun& reported) {
  double sum = 0;
  for (const LayerTime& layer : reported.run.layers) sum += layer.time_s;
  return sum;
}

std::string totals_text(const ReportedRun& reported, int width) {
  const NetworkRun& run = reported.run;
  const double samples = static_cast<double>(reported.batch);
  TextTable table{{{""}, {"value", Align::right}, {"90 % interval"}, {"source"}, {"per sample"}},
                  {}};
  const auto add = [&](const char* what, const Estimate& estimate, std::string (*format)(double),
                       const std::string& more) {
    table.rows.push_back({what, format(estimate.value),
                          fmt::format("{} to {}", format(estimate.low), format(estimate.high)),
                          std::string(to_string(estimate.source)), more});
  };
  add("time", run.time_s, time_text, time_text(run.time_s.value / samples));
  if (reported.explanation)
    add("time", reported.explanation->time_s, time_text,
        time_text(reported.explanation->time_s.value / samples));
  if (run.energy_j)
    add("energy", *run.energy_j, energy_text, energy_text(run.energy_j->value / samples));
  if (run.power_w) add("power", *run.power_w, power_text, "");
  if (run.clock_hz) add("clock", *run.clock_hz, clock_text, "");
  return render_text(table, width);
}

std::string layers_text(const ReportedRun& reported, bool all, int width) {
  std::vector<RunRow> rows = run_rows(reported);
  const double total = layers_s(reported);
  const bool trains = reported.task == Task::training, predicts = reported.explanation.has_value();
  std::ranges::stable_sort(
      rows, [](const RunRow& a, const RunRow& b) { return a.layer.time_s > b.layer.time_s; });
  TextTable table{{{"layer", Align::left, true, 0, 26}}, {}};
  if (trains) table.columns.push_back({"pass"});
  if (predicts) table.columns.push_back({"op", Align::left, false, 1});
  table.columns.push_back({"measured", Align::right});
  table.columns.push_back({"share", Align::right});
  if (predicts) {
    table.columns.push_back({"predicted", Align::right});
    table.columns.push_back({"of roof", Align::right});
  }
  const auto add = [&](const std::string& name, const RunRow& row, bool is_one) {
    std::vector<std::string> cells{name};
    if (trains) cells.push_back(is_one ? std::string(to_string(row.layer.phase)) : "");
    if (predicts)
      cells.push_back(is_one && row.predicted ? std::string(to_string(row.predicted->op)) : "");
    cells.push_back(time_text(row.layer.time_s));
    cells.push_back(total > 0 ? format_percent(row.layer.time_s / total, 1) : "");
    if (predicts) {
      cells.push_back(row.predicted ? time_text(row.predicted->time_s) : "");
      const auto share = is_one ? roof_share(row) : std::nullopt;
      cells.push_back(share ? format_percent(*share) : "");
    }
    table.rows.push_back(std::move(cells));
  };
  const std::size_t count = all ? rows.size() : std::min(rows.size(), shown_rows);
  for (std::size_t i = 0; i < count; ++i) add(rows[i].layer.name, rows[i], true);
  if (count < rows.size()) {
    RunRow rest;
    for (std::size_t i = count; i < rows.size(); ++i) {
      rest.layer.time_s += rows[i].layer.time_s;
      if (!rows[i].predicted) continue;
      if (!rest.predicted) rest.predicted.emplace();
      rest.predicted->time_s += rows[i].predicted->time_s;
    }
    add(fmt::format("({} others)", rows.size() - count), rest, false);
  }
  std::string text = render_text(table, width);
  if (count < rows.size()) text += "--all shows every layer\n";
  return text;
}

std::string operators_text(const ReportedRun& reported, int width) {
  double all = 0;
  for (const OperatorTime& each : reported.run.operators) all += each.self_s;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown_operators, reported.run.operators.size()); ++i) {
    const OperatorTime& each = reported.run.operators[i];
    text += fmt::format("{}{} {} in {} call{}", i == 0 ? "operators: " : ", ", each.name,
                        format_percent(all > 0 ? each.self_s / all : 0), each.calls,
                        each.calls == 1 ? "" : "s");
  }
  return text.empty() ? "" : wrap(text, width, 2) + "\n";
}

std::string sampling_text(const ReportedRun& reported) {
  const NetworkRun& run = reported.run;
  const Sampling& sampling = run.sampling;
  std::string text = fmt::format("median of {} samples", sampling.series.front().rates.size());
  if (sampling.rejected_rounds > 0)
    text += fmt::format(", {} more were disturbed and do not count", sampling.rejected_rounds);
  text += fmt::format("; the fastest took {}", time_text(run.least_s));
  if (run.cpu_s) text += fmt::format("; least CPU time of a step: {}", time_text(*run.cpu_s));
  if (!sampling.complete) text += "; interrupted";
  const double recording = run.time_s.value > 0 ? run.recorded.time_s / run.time_s.value - 1 : 0;
  text += fmt::format("; layers: median of {} recorded step{}", run.recorded_steps,
                      run.recorded_steps == 1 ? "" : "s");
  if (recording > 0.02) text += fmt::format(", which took {} longer", format_percent(recording));
  return text;
}

std::vector<std::string> all_notes(const ReportedRun& reported) {
  std::vector<std::string> notes = reported.notes;
  const Sampling& sampling = reported.run.sampling;
  if (sampling.disturbed)
    notes.push_back(fmt::format(
        "the machine was busy: others used {} of its time, a hypervisor took {}; the time is not "
        "that of a quiet machine",
        format_percent(sampling.load.other_fraction, 1),
        format_percent(sampling.load.steal_fraction, 1)));
  notes.insert(notes.end(), reported.run.notes.begin(), reported.run.notes.end());
  return notes;
}

Json event(const std::string& name, const char* category, int process, int thread, double start_s,
           double time_s, Json details) {
  return {{"name", name},        {"cat", category}, {"ph", "X"},     {"ts", start_s * 1e6},
          {"dur", time_s * 1e6}, {"pid", process},  {"tid", thread}, {"args", std::move(details)}};
}

Json name_event(const char* kind, int process, int thread, const std::string& name) {
  return {
      {"name", kind}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

std::string run_text(const ReportedRun& reported, bool all, int width) {
  const NetworkRun& run = reported.run;
  std::string text =
      wrap(fmt::format("{}, {}, batch {}, {}, {}{}", reported.network, to_string(reported.task),
                       reported.batch, to_string(reported.dtype),
                       is_on_gpu(reported) ? "" : threads_text(run) + ", ", run.library),
           width) +
      "\n\n";
  text += totals_text(reported, width);
  text += wrap(sampling_text(reported), width, 2) + "\n\n";
  text += layers_text(reported, all, width);
  text += operators_text(reported, width);
  if (reported.explanation)
    if (const std::string wrong = contradiction_text(*reported.explanation); !wrong.empty())
      text +=
          wrap("contradiction: " + wrong + "; suspect " + reported.explanation->measured->suspect,
               width, 2) +
          "\n";
  for (const std::string& note : all_notes(reported))
    text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

Json to_json(const ReportedRun& reported) {
  const NetworkRun& run = reported.run;
  Json layers = Json::array();
  for (const RunRow& row : run_rows(reported)) {
    const auto share = roof_share(row);
    layers.push_back({{"name", row.layer.name},
                      {"phase", to_string(row.layer.phase)},
                      {"op", row.predicted ? Json(to_string(row.predicted->op)) : Json()},
                      {"measured_s", row.layer.time_s},
                      {"predicted_s", row.predicted ? Json(row.predicted->time_s) : Json()},
                      {"roof_share", share ? Json(*share) : Json()}});
  }
  Json operators = Json::array();
  for (const OperatorTime& each : run.operators)
    operators.push_back({{"name", each.name}, {"calls", each.calls}, {"self_s", each.self_s}});
  Json contradictions = Json::array();
  std::string suspect;
  if (reported.explanation && reported.explanation->measured) {
    suspect = reported.explanation->measured->suspect;
    for (const Contradiction& each : reported.explanation->measured->contradictions)
      contradictions.push_back({{"layer", each.layer},
                                {"measured_s", each.measured_s},
                                {"least_s", each.least_s},
                                {"roof", each.roof}});
  }
  const Sampling& sampling = run.sampling;
  return {{"schema", ReportedRun::schema},
          {"network", reported.network},
          {"options", reported.options},
          {"task", to_string(reported.task)},
          {"batch", reported.batch},
          {"dtype", to_string(reported.dtype)},
          {"runtime", to_string(reported.runtime)},
          {"device", reported.device},
          {"library", run.library},
          {"threads", run.threads},
          {"time_s", to_json(run.time_s)},
          {"least_s", run.least_s},
          {"cpu_s", run.cpu_s ? Json(*run.cpu_s) : Json()},
          {"samples", sampling.series.front().rates.size()},
          {"rejected_samples", sampling.rejected_rounds},
          {"disturbed", sampling.disturbed},
          {"complete", sampling.complete},
          {"steal_fraction", sampling.load.steal_fraction},
          {"other_fraction", sampling.load.other_fraction},
          {"clock_hz", nullable(run.clock_hz)},
          {"power_w", nullable(run.power_w)},
          {"energy_j", nullable(run.energy_j)},
          {"predicted_s", reported.explanation ? to_json(reported.explanation->time_s) : Json()},
          {"recorded_steps", run.recorded_steps},
          {"recorded_s", run.recorded.time_s},
          {"layers", layers},
          {"operators", operators},
          {"contradictions", contradictions},
          {"suspect", suspect.empty() ? Json() : Json(suspect)},
          {"notes", all_notes(reported)}};
}

std::string to_csv(const ReportedRun& reported) {
  std::string text = csv_row({"layer", "phase", "op", "measured_s", "predicted_s", "roof_share"});
  for (const RunRow& row : run_rows(reported)) {
    const auto share = roof_share(row);
    text += csv_row({row.layer.name, std::string(to_string(row.layer.phase)),
                     row.predicted ? std::string(to_string(row.predicted->op)) : "",
                     csv_number(row.layer.time_s),
                     row.predicted ? csv_number(row.predicted->time_s) : "",
                     share ? csv_number(*share) : ""});
  }
  return text;
}

Json run_trace(const ReportedRun& reported) {
  Json events = Json::array();
  events.push_back(name_event("process_name", 1, 0, "measured"));
  events.push_back(name_event("thread_name", 1, 1, "layers and operators"));
  for (const ExecutedCall& call : reported.run.recorded.calls)
    events.push_back(event(call.name, call.depth == 0 ? "layer" : "operator", 1, 1, call.start_s,
                           call.time_s, {{"phase", to_string(call.phase)}}));
  if (reported.explanation) {
    events.push_back(name_event("process_name", 2, 0, "predicted"));
    events.push_back(name_event("thread_name", 2, 1, "layers"));
    double start_s = 0;
    for (const ExplainedLayer& layer : reported.explanation->layers) {
      events.push_back(event(layer.name, "layer", 2, 1, start_s, layer.time_s,
                             {{"bound", to_string(layer.bound)}, {"op", to_string(layer.op)}}));
      start_s += layer.time_s;
    }
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

std::string with_run_row(const std::string& existing, const std::string& name,
                         const ReportedRun& reported) {
  const NetworkRun& run = reported.run;
  const auto& series = run.sampling.series;
  const std::size_t samples = series.empty() ? 0 : series.front().rates.size();
  const auto milliseconds = [](double time_s) { return csv_number(time_s * 1e3); };
  const std::vector<std::pair<std::string, std::string>> cells = {
      {"source", "this machine"},
      {"device", reported.device},
      {"mode", threads_text(run)},
      {"cpu_cores", std::to_string(run.threads)},
      {"locked", ""},
      {"model", reported.network},
      {"options", reported.options},
      {"batch", std::to_string(reported.batch)},
      {"dtype", std::string(to_string(reported.dtype))},
      {"runtime", std::string(to_string(reported.runtime))},
      {"task", std::string(to_string(reported.task))},
      {"time_ms", milliseconds(run.time_s.value)},
      {"power_w", run.power_w ? csv_number(run.power_w->value) : ""},
      {"time_min_ms", milliseconds(run.least_s)},
      {"runs", std::to_string(samples)},
      {"note", run.sampling.disturbed ? "the machine was busy" : ""},
  };
  std::vector<std::string> titles, row;
  if (existing.empty()) {
    for (const auto& [title, value] : cells) {
      titles.push_back(title);
      row.push_back(value);
    }
    return csv_row(titles) + csv_row(row);
  }
  const std::vector<CsvRow> rows = parse_csv(existing, name);
  if (!rows.empty()) titles = rows.front().cells;
  row.resize(titles.size());
  for (const auto& [title, value] : cells) {
    const auto at = std::ranges::find(titles, title);
    if (at != titles.end())
      row[static_cast<std::size_t>(at - titles.begin())] = value;
    else if (title != "time_min_ms" && title != "runs" && title != "note" && !value.empty())
      throw Error(name, fmt::format("has no column {}", title), "give the name of a new file");
  }
  return existing + (existing.ends_with('\n') ? "" : "\n") + csv_row(row);
}

}  // namespace ridgeline
