// Columns instead of rows, and five digits where the page only draws: a network of 300 layers in
// ten modes and three types stays far below a megabyte.
#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "plots/figures/layers.h"
#include "plots/figures/roofline.h"
#include "report/page_files.h"
#include "roofline/ceilings/energy_roofline.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {
namespace {

// Modes that would share a spot of the picture are shown once.
constexpr double page_spots_x = 220, page_spots_y = 150;

Json drawn_number(double value, int digits = 5) {
  if (!std::isfinite(value)) return {};
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

// Times in nanoseconds and energies in nanojoules are integers, the shortest way to write them.
Json in_nano(double value) {
  return std::isfinite(value) ? Json(std::llround(value * 1e9)) : Json();
}

Json triple(const Estimate& estimate) {
  return {drawn_number(estimate.value, 7), drawn_number(estimate.low, 5),
          drawn_number(estimate.high, 5), to_string(estimate.source)};
}

Json triple(const std::optional<Estimate>& estimate) {
  return estimate ? triple(*estimate) : Json();
}

template <class E>
Json token_names() {
  Json names = Json::array();
  for (const auto& row : TokenTable<E>::rows) names.push_back(row.second);
  return names;
}

Json layer_facts(const Explanation& explanation) {
  Json names = Json::array(), ops = Json::array(), work = Json::array(), bytes = Json::array();
  for (const ExplainedLayer& layer : explanation.layers) {
    names.push_back(layer.name);
    ops.push_back(static_cast<int>(layer.op));
    work.push_back(drawn_number(layer.operations, 7));
    bytes.push_back(drawn_number(layer.bytes, 7));
  }
  return {{"dtype", to_string(explanation.run.dtype)},
          {"name", std::move(names)},
          {"op", std::move(ops)},
          {"operations", std::move(work)},
          {"bytes", std::move(bytes)}};
}

// The roofs that the layers use, as in the picture of `explain`.
Json roofs_json(const Roofline& roofline) {
  Json roofs = Json::array(), slopes = Json::array();
  std::size_t main = 0;
  for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {
    const Roof& roof = roofline.roofs[i];
    if (roofline.main_roof == i) main = roofs.size();
    if ((roof.chosen && roof.is_ceiling) || roofline.main_roof == i)
      roofs.push_back({{"name", roof.name},
                       {"dtype", to_string(roof.dtype)},
                       {"flops_per_s", triple(roof.flops_per_s)}});
  }
  for (const Slope& slope : roofline.slopes)
    if (slope.chosen)
      slopes.push_back({{"name", slope.name}, {"bytes_per_s", triple(slope.bytes_per_s)}});
  return {{"roofs", std::move(roofs)}, {"main_roof", main}, {"slopes", std::move(slopes)}};
}

// The terms of the arch of the roof that the layers use; null if no power is known.
Json energy_terms_json(const Explanation& explanation, const Roofline& roofline) {
  try {
    EnergyRooflineOptions options;
    options.machine = explanation.run.machine;
    options.dtype = explanation.run.dtype;
    const EnergyRoofline energy = energy_roofline_of(explanation.ceilings, {}, options);
    const Roof* used = roofline.main_roof ? &roofline.roofs[*roofline.main_roof] : nullptr;
    const auto found =
        std::find_if(energy.roofs.begin(), energy.roofs.end(), [&](const EnergyRoof& each) {
          return used && each.dtype == used->dtype && each.unit == used->unit;
        });
    const EnergyRoof& roof = found == energy.roofs.end() ? energy.main_roof() : *found;
    return {{"roof", roof.name},
            {"flops_per_s", drawn_number(roof.terms.flops_per_s)},
            {"bytes_per_s", drawn_number(roof.terms.bytes_per_s)},
            {"joule_per_flop", drawn_number(roof.terms.joule_per_flop)},
            {"joule_per_byte", drawn_number(roof.terms.joule_per_byte)},
            {"constant_w", drawn_number(roof.terms.constant_power_w)},
            {"cap_w", roof.terms.cap_w ? drawn_number(*roof.terms.cap_w) : Json()},
            {"sources",
             {{"joule_per_flop", to_string(roof.joule_per_flop.source)},
              {"joule_per_byte", to_string(energy.joule_per_byte.source)},
              {"constant_w", to_string(energy.constant_power_w.source)}}}};
  } catch (const Error&) {
    return {};
  }
}

Json mode_run_json(const Explanation& explanation) {
  Json times = Json::array(), energies = Json::array(), bounds = Json::array(),
       shares = Json::array(), measured = Json::array();
  bool is_measured = false;
  for (const ExplainedLayer& layer : explanation.layers) {
    times.push_back(in_nano(layer.time_s));
    energies.push_back(layer.energy_j ? in_nano(*layer.energy_j) : Json());
    bounds.push_back(static_cast<int>(layer.bound));
    shares.push_back(layer.roof_share ? drawn_number(*layer.roof_share, 3) : Json());
    measured.push_back(layer.measured_s ? in_nano(*layer.measured_s) : Json());
    is_measured |= layer.measured_s.has_value();
  }
  Json bound_shares = Json::array(), overheads = Json::array();
  for (const auto& [bound, share] : explanation.bound_shares)
    bound_shares.push_back({to_string(bound), drawn_number(share)});
  for (const Overhead& overhead : explanation.overheads)
    overheads.push_back(
        {overhead.name, drawn_number(overhead.time_s), drawn_number(overhead.energy_j)});
  Json json = {{"time_s", triple(explanation.time_s)},
               {"energy_j", triple(explanation.energy_j)},
               {"power_w", triple(explanation.power_w)},
               {"bound", to_string(explanation.bound)},
               {"verdict", verdict(explanation)},
               {"mode_text", mode_text(explanation.point)},
               {"bound_shares", std::move(bound_shares)},
               {"overheads", std::move(overheads)},
               {"layer_ns", std::move(times)},
               {"layer_nj", std::move(energies)},
               {"layer_bound", std::move(bounds)},
               {"roof_share", std::move(shares)}};
  const Roofline roofline = roofline_under(explanation, explanation.ceilings);
  json.update(roofs_json(roofline));
  json["energy"] = energy_terms_json(explanation, roofline);
  json["measured_ns"] = is_measured ? std::move(measured) : Json();
  return json;
}

Json timeline_json(const Timeline& timeline) {
  Json host_begin = Json::array(), host = Json::array(), begin = Json::array(),
       device = Json::array();
  for (const TimelineKernel& kernel : timeline.kernels) {
    host_begin.push_back(in_nano(kernel.host.begin_s));
    host.push_back(in_nano(kernel.host.time_s));
    begin.push_back(in_nano(kernel.device.begin_s));
    device.push_back(in_nano(kernel.device.time_s));
  }
  return {{"host_begin_ns", std::move(host_begin)},
          {"host_ns", std::move(host)},
          {"device_begin_ns", std::move(begin)},
          {"device_ns", std::move(device)},
          {"setup_ns", in_nano(timeline.setup.time_s)},
          {"tail_begin_ns", in_nano(timeline.tail.begin_s)},
          {"tail_ns", in_nano(timeline.tail.time_s)},
          {"waiting_ns", in_nano(timeline.waiting_s)},
          {"time_ns", in_nano(timeline.time_s)}};
}

Json page_mode_json(const PageMode& mode) {
  Json runs = Json::array();
  for (const Explanation& run : mode.runs) runs.push_back(mode_run_json(run));
  return {{"name", mode.name},
          {"request", mode.request},
          {"command", mode.command.empty() ? Json() : Json(mode.command)},
          {"reach", to_string(mode.reach)},
          {"stock", mode.stock},
          {"timeline", timeline_json(mode.timeline)},
          {"runs", std::move(runs)}};
}

// Clocks in MHz, cores and SMs; null where the mode does not state them.
Json knobs_json(const OperatingPoint& point) {
  const auto mhz = [](const std::optional<double>& hz) {
    return hz ? drawn_number(*hz / 1e6) : Json();
  };
  return {mhz(point.gpu_hz), mhz(point.memory_hz),
          point.cpu_hz.empty() ? Json() : drawn_number(point.cpu_hz.front() / 1e6),
          nullable(point.cpu_cores), nullable(point.gpu_units)};
}

// The fields of a row of choosable_json.
const Json& choosable_fields() {
  static const Json fields = {"mode",     "stock",    "reach",   "command",   "knobs",
                              "batch",    "dtype",    "variant", "latency_s", "goal_s",
                              "sample_s", "energy_j", "power_w", "kept"};
  return fields;
}

// Full digits where modes are compared, since the page must choose what a plan chooses; seven for
// the limits, which are typed with fewer.
Json choosable_json(const PageRun& run, const ChoosableRow& row) {
  const PlanProblem& problem = run.problem;
  const Sweep& sweep = run.result.sweep;
  const CandidateMode& mode = mode_at(problem, sweep, row.row);
  const PlanVariant& variant = variant_at(problem, sweep, row.row);
  Json kept = Json::array();
  for (const KeptLimits& limits : row.kept) {
    kept.push_back(drawn_number(limits.latency_s, 7));
    kept.push_back(drawn_number(limits.power_w, 7));
  }
  return {mode_name(mode.point),
          mode.stock,
          to_string(mode.reach),
          enter_command(problem.candidates, mode),
          knobs_json(mode.point),
          variant.batch,
          to_string(variant.dtype),
          sweep.variant_of(row.row),
          nullable(finite(row.service.latency_s)),
          nullable(finite(row.service.goal_s)),
          nullable(finite(row.service.sample_s)),
          nullable(finite(row.service.energy_j)),
          nullable(finite(row.service.mean_power_w)),
          std::move(kept)};
}

// One mode per spot of the picture: latency, energy, power, knobs.
Json shown_modes(const PageRun& run) {
  const Objective& objective = run.result.plan.run.objective;
  struct Shown {
    std::size_t row;
    double latency_s, energy_j, power_w;
  };
  std::vector<Shown> places;
  double low_x = INFINITY, high_x = 0, low_y = INFINITY, high_y = 0;
  for (std::size_t row = 0; row < run.result.sweep.costs.size(); ++row) {
    if (!run.problem.candidates.is_eligible(run.result.sweep.mode_of(row))) continue;
    const Service service = service_at(run.problem, run.result.sweep, row, objective);
    if (!std::isfinite(service.latency_s) || !(service.energy_j > 0)) continue;
    places.push_back({row, service.latency_s, service.energy_j, service.mean_power_w});
    low_x = std::min(low_x, service.latency_s);
    high_x = std::max(high_x, service.latency_s);
    low_y = std::min(low_y, service.energy_j);
    high_y = std::max(high_y, service.energy_j);
  }
  const auto spot = [](double value, double low, double high, double spots) {
    return high > low ? std::lround(std::log(value / low) / std::log(high / low) * spots) : 0L;
  };
  std::set<std::pair<long, long>> taken;
  Json shown = Json::array();
  for (const Shown& place : places) {
    if (!taken
             .emplace(spot(place.latency_s, low_x, high_x, page_spots_x),
                      spot(place.energy_j, low_y, high_y, page_spots_y))
             .second)
      continue;
    Json row = {drawn_number(place.latency_s, 4), drawn_number(place.energy_j, 4),
                drawn_number(place.power_w, 4)};
    for (Json& knob : knobs_json(mode_at(run.problem, run.result.sweep, place.row).point))
      row.push_back(std::move(knob));
    shown.push_back(std::move(row));
  }
  return shown;
}

Json plan_view_json(const PageRun& run) {
  const Plan& plan = run.result.plan;
  const Objective& objective = plan.run.objective;
  Json latency, power, others = Json::array(), rows = Json::array();
  for (const Limit& limit : objective.limits) {
    if (limit.kind == LimitKind::latency)
      latency = limit.bound;
    else if (limit.kind == LimitKind::power)
      power = limit.bound;
    else
      others.push_back(limit.text);
  }
  for (const ChoosableRow& row : run.choosable) rows.push_back(choosable_json(run, row));
  Json arrivals;
  if (objective.arrivals) arrivals = objective.arrivals->per_s;
  return {{"minimize", to_string(objective.goal)},
          {"risk", objective.risk},
          {"arrivals_per_s", arrivals},
          {"latency_s", latency},
          {"power_w", power},
          {"other_limits", std::move(others)},
          {"modes", plan.run.modes},
          {"choices", plan.run.choices},
          {"chosen", name_of(plan.chosen)},
          {"chosen_batch", plan.chosen.batch},
          {"chosen_dtype", to_string(plan.chosen.dtype)},
          {"row_fields", choosable_fields()},
          {"rows", std::move(rows)},
          {"shown", shown_modes(run)}};
}

std::string interval_of(const Estimate& estimate, std::string (*format)(double)) {
  return fmt::format("{} ({} to {})", format(estimate.value), format(estimate.low),
                     format(estimate.high));
}

std::string page_seconds(double value) { return format_seconds(value); }
std::string page_joules(double value) { return format_si(value, "J"); }
std::string page_watts(double value) { return format_si(value, "W"); }

std::string less_or_more(double saved) {
  return fmt::format("{} {}", format_percent(std::abs(saved)), saved > 0 ? "less" : "more");
}

std::string less_or_more(double saved, const char* what) {
  if (std::abs(saved) < 0.005) return fmt::format("the same {}", what);
  return fmt::format("{} {}", less_or_more(saved), what);
}

std::string saving_sentence(const std::string& against, const Saving& saving) {
  std::string text = fmt::format("Compared with {} ({}): ", against, saving.mode);
  if (saving.energy) {
    text += less_or_more(*saving.energy, "energy");
    if (saving.energy_low && saving.energy_high)
      text += fmt::format(" (90 % interval: {} to {})", less_or_more(*saving.energy_low),
                          less_or_more(*saving.energy_high));
    text += ", ";
  }
  return text + less_or_more(saving.time, "time") + "; predicted.";
}

std::string alternative_sentence(const char* how, const PlannedAlternative& other) {
  std::string text = fmt::format("{}, {} would take ", how, name_of(other.mode));
  if (other.saving.energy) text += less_or_more(*other.saving.energy, "energy") + " and ";
  return text + less_or_more(other.saving.time, "time") + ".";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else
      result += c;
  }
  return result;
}

// Inside <script>: no byte of the data may end the element or begin a comment.
std::string script_data(const Json& json) {
  std::string result;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
    if (c == '<')
      result += "\\u003c";
    else if (c == '>')
      result += "\\u003e";
    else if (c == '&')
      result += "\\u0026";
    else
      result += c;
  return result;
}

std::string title_of(const Page& page) {
  std::set<std::string> networks, machines;
  for (const PageRun& run : page.runs) {
    networks.insert(run.result.plan.run.network);
    machines.insert(run.result.plan.run.machine);
  }
  const auto joined = [](const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
      text += (text.empty() ? "" : ", ") + elide_middle(name, 60);
    return text;
  };
  return joined(networks) + " on " + joined(machines);
}

}  // namespace

std::vector<std::string> page_summary(const PageRun& run) {
  const Plan& plan = run.result.plan;
  const PlannedMode& chosen = plan.chosen;
  std::vector<std::string> lines;
  const char* reboot = chosen.reach == Reach::reboot ? "; it needs a reboot" : "";
  if (!chosen.command.empty())
    lines.push_back(fmt::format("Enter mode {}: {}{}.", name_of(chosen), chosen.command, reboot));
  else if (chosen.point.gpu_hz && plan.run.modes > 1)
    lines.push_back(
        fmt::format("Set {}: 'ridgeline plan' writes it for nvpmodel with --nvpmodel FILE{}.",
                    name_of(chosen), reboot));
  else
    lines.push_back(fmt::format("Run it as it is: {} has one mode here.", plan.run.machine));
  std::string costs =
      fmt::format("{}, batch {}, {}, by {} on {} then takes {}", plan.run.network, chosen.batch,
                  to_string(chosen.dtype), to_string(plan.run.runtime), plan.run.machine,
                  interval_of(chosen.time_s, page_seconds));
  if (chosen.energy_j) costs += ", " + interval_of(*chosen.energy_j, page_joules);
  if (chosen.power_w) costs += fmt::format(" at {}", interval_of(*chosen.power_w, page_watts));
  lines.push_back(
      costs + fmt::format(" per batch: {}, with 90 % intervals.", to_string(chosen.time_s.source)));
  if (plan.rated && plan.rated->mean_power_w && plan.rated->sample_energy_j)
    lines.push_back(fmt::format(
        "At the given rate, idle time included: latency {}, {} on average, {} per sample.",
        interval_of(plan.rated->latency_s, page_seconds),
        interval_of(*plan.rated->mean_power_w, page_watts),
        interval_of(*plan.rated->sample_energy_j, page_joules)));
  std::string bound = verdict(run.explanation);
  if (!bound.empty()) bound.front() = static_cast<char>(std::toupper(bound.front()));
  lines.push_back(bound + ".");
  if (plan.vs_default)
    lines.push_back(saving_sentence("the mode that the device boots into", *plan.vs_default));
  if (plan.vs_fastest) lines.push_back(saving_sentence("the fastest mode", *plan.vs_fastest));
  if (plan.without_reboot)
    lines.push_back(alternative_sentence("Without a reboot", *plan.without_reboot));
  if (plan.with_reboot) lines.push_back(alternative_sentence("With a reboot", *plan.with_reboot));
  for (const PlannedLimit& limit : plan.limits)
    lines.push_back(fmt::format("{}: met with probability {}.", limit.limit.text,
                                format_probability(limit.probability)));
  return lines;
}

Json to_json(const Page& page) {
  Json runs = Json::array(), failures = Json::array();
  for (const PageRun& run : page.runs) {
    const Plan& plan = run.result.plan;
    Json types = Json::array(), modes = Json::array(), advice = Json::array(),
         calibrated = Json::array();
    for (const Explanation& explanation : run.modes.front().runs)
      types.push_back(layer_facts(explanation));
    for (const PageMode& mode : run.modes) modes.push_back(page_mode_json(mode));
    for (const Advice& each : run.explanation.advice)
      advice.push_back({each.change, drawn_number(each.time_gain),
                        each.energy_gain ? drawn_number(*each.energy_gain) : Json()});
    for (const Observation& row : run.calibrated) calibrated.push_back(to_json(row));
    runs.push_back({{"network", plan.run.network},
                    {"device", plan.run.device},
                    {"machine", plan.run.machine},
                    {"runtime", to_string(plan.run.runtime)},
                    {"batch", plan.chosen.batch},
                    {"summary", page_summary(run)},
                    {"notes", plan.warnings},
                    {"chosen",
                     {{"mode", name_of(plan.chosen)},
                      {"time_s", triple(plan.chosen.time_s)},
                      {"energy_j", triple(plan.chosen.energy_j)},
                      {"power_w", triple(plan.chosen.power_w)},
                      {"bound", to_string(plan.chosen.bound)},
                      {"dtype", to_string(plan.chosen.dtype)},
                      {"batch", plan.chosen.batch}}},
                    {"types", std::move(types)},
                    {"modes", std::move(modes)},
                    {"advice", std::move(advice)},
                    {"calibrated", std::move(calibrated)},
                    {"plan", plan_view_json(run)}});
  }
  for (const PageFailure& failure : page.failures)
    failures.push_back(
        {{"network", failure.network}, {"device", failure.device}, {"why", failure.why}});
  return {
      {"schema", Page::schema},
      {"program", page.program},
      {"title", title_of(page)},
      {"ops", token_names<OpClass>()},
      {"bounds", token_names<BoundBy>()},
      {"runs", std::move(runs)},
      {"failures", std::move(failures)},
      {"validation", page.validation.empty() ? Json() : parse_json(page.validation, "validation")}};
}

// {{NAME}} in page.html is the file of that name, or one of title, summary and data.
std::string page_html(const Page& page) {
  const auto file = [](std::string_view name) {
    for (const PageFile& each : page_files())
      if (each.name == name) return each.text;
    throw Error("report", fmt::format("the page has no part named {}", name));
  };
  const auto part = [&](std::string_view name) -> std::string {
    if (name == "title") return escaped(title_of(page));
    if (name == "data") return script_data(to_json(page));
    if (name == "summary") {
      std::string items;
      for (const std::string& line : page_summary(page.runs.front()))
        items += "<li>" + escaped(line) + "</li>\n";
      return items;
    }
    return std::string(file(name));
  };
  const std::string_view skeleton = file("page.html");
  std::string html;
  std::size_t at = 0;
  for (std::size_t open = skeleton.find("{{"); open != std::string_view::npos;
       open = skeleton.find("{{", at)) {
    const std::size_t close = skeleton.find("}}", open);
    html += skeleton.substr(at, open - at);
    html += part(skeleton.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return html += skeleton.substr(at);
}

}  // namespace ridgeline
