// Tables where rows are compared, sentences where they are not.
#include "report/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/modes.h"
#include "report/plan_training.h"

namespace ridgeline {
namespace {

constexpr std::size_t shown_front = 7;

std::string goal_text(const PlannedRun& run) {
  const bool has_arrivals = run.objective.arrivals.has_value();
  const bool is_training = run.scenario == Scenario::training;
  const bool is_both = run.scenario == Scenario::concurrent;
  switch (run.objective.goal) {
    case Goal::energy:
      if (is_training) return "least energy per epoch";
      if (is_both) return "least energy per trained sample, inference included";
      return has_arrivals ? "least energy per sample, idle time included"
                          : "least energy per sample";
    case Goal::time:
      if (is_training) return "least time per epoch";
      if (is_both) return "most training";
      return has_arrivals ? "least latency" : "least time per sample";
    case Goal::power:
      return "least mean power";
    case Goal::edp:
      return "least energy × delay";
  }
  return "";
}

std::string run_text(const PlannedMode& mode) {
  std::string text = fmt::format("batch {}, {}", mode.batch, to_string(mode.dtype));
  if (mode.service && mode.service->minibatch != mode.batch)
    text += fmt::format(", minibatch {}", mode.service->minibatch);
  return text;
}

// A signed change as people say it: "12 % less", "3 % more", "as much".
std::string change_text(double saved) {
  const std::string share = format_percent(std::abs(saved), std::abs(saved) < 0.0995 ? 1 : 0);
  if (std::abs(saved) < 5e-4) return "as much";
  return share + (saved > 0 ? " less" : " more");
}

std::string answer(const Plan& plan, int width) {
  const PlannedMode& chosen = plan.chosen;
  std::string text = "mode: " + chosen.request;
  if (chosen.stock)
    text += fmt::format(" (stock mode {})", chosen.point.label);
  else if (!chosen.nearest_stock.empty())
    text += fmt::format(" (nearest stock mode: {})", chosen.nearest_stock);
  text += ", " + run_text(chosen);
  text += chosen.reach == Reach::reboot ? "; takes a reboot" : "";
  std::string about = plan.training ? "training " : "";
  if (plan.concurrent)
    about = fmt::format("training {} by {} beside ", plan.concurrent->run.network,
                        to_string(plan.concurrent->run.runtime));
  about += fmt::format("{} on {} by {}: {} among {} mode{}", plan.run.network, plan.run.machine,
                       to_string(plan.run.runtime), goal_text(plan.run), plan.run.modes,
                       plan.run.modes == 1 ? "" : "s");
  if (plan.run.choices > plan.run.modes)
    about += fmt::format(", {} with batches and types", plan.run.choices);
  return wrap(text, width, 2) + "\n" + wrap(about, width, 2) + "\n\n";
}

std::string totals(const PlannedMode& mode, Scenario scenario, int width) {
  TextTable table{{{scenario == Scenario::training     ? "one minibatch"
                    : scenario == Scenario::concurrent ? "one inference batch"
                                                       : "one batch"},
                   {"value", Align::right},
                   {"90 % interval"},
                   {"source"},
                   {"per sample", Align::right}},
                  {}};
  const double samples = static_cast<double>(mode.batch);
  const auto add = [&](const char* what, const Estimate& estimate, auto format, bool divided) {
    table.rows.push_back({what, format(estimate.value),
                          interval_text(estimate, format(estimate.low), format(estimate.high)),
                          std::string(to_string(estimate.source)),
                          divided ? format(estimate.value / samples) : ""});
  };
  add(
      "time", mode.time_s, [](double value) { return format_seconds(value); }, true);
  if (mode.power_w)
    add(
        "power", *mode.power_w, [](double value) { return format_si(value, "W"); }, false);
  if (mode.energy_j)
    add(
        "energy", *mode.energy_j, [](double value) { return format_si(value, "J"); }, true);
  return render_text(table, width) + "\n";
}

std::string period_text(const Plan& plan, int width) {
  if (!plan.chosen.period) return "";
  const PlannedPeriod& period = *plan.chosen.period;
  std::string text = fmt::format("every {}: busy {} of the time, {} from a sample to its result",
                                 format_seconds(period.period_s), format_percent(period.duty),
                                 format_seconds(period.latency_s));
  if (period.energy_j)
    text += fmt::format("; idle at {} between batches, {} per period, {} on average",
                        format_si(*period.idle_w, "W"), format_si(*period.energy_j, "J"),
                        format_si(*period.mean_power_w, "W"));
  return wrap(text, width, 2) + "\n";
}

// What energy and time are of, beside a single batch.
std::string saved_of(Scenario scenario) {
  if (scenario == Scenario::training) return " per epoch";
  return scenario == Scenario::concurrent ? " per trained sample" : "";
}

std::string saving_text(const std::optional<Saving>& saving, const char* whom, Scenario scenario,
                        int width) {
  if (!saving) return "";
  std::string text = fmt::format("against the {} ({}): ", whom, saving->mode);
  if (saving->energy) {
    text += change_text(*saving->energy) + " energy" + saved_of(scenario);
    if (saving->energy_low && *saving->energy_low < *saving->energy_high)
      text += fmt::format(" ({} to {})", format_percent(*saving->energy_low),
                          format_percent(*saving->energy_high));
    text += ", ";
  }
  return wrap(text + change_text(saving->time) + " time", width, 2) + "\n";
}

std::string limits_text(const Plan& plan, int width) {
  if (plan.limits.empty()) return "no limits were given\n";
  std::string text;
  for (const PlannedLimit& limit : plan.limits) {
    std::string line = fmt::format(
        "{}: {} of {}, holds with a probability of {}", to_string(limit.limit.kind),
        limit_value_text(limit.limit.kind, limit.value),
        limit_value_text(limit.limit.kind, limit.limit.bound), format_percent(limit.probability));
    if (limit.gain_without)
      line += fmt::format("; binds: without it {} less {}", format_percent(*limit.gain_without, 1),
                          to_string(plan.run.objective.goal));
    text += wrap(line, width, 2) + "\n";
  }
  if (plan.limits.size() > 1)
    text += fmt::format("all limits hold with a probability of {}\n",
                        format_percent(plan.chosen.probability));
  return text;
}

std::string other_reach_text(const Plan& plan, int width) {
  if (!plan.other_reach) return "";
  const PlannedMode& other = *plan.other_reach;
  std::string text =
      other.reach == Reach::live ? "best without a reboot: " : "best after a reboot: ";
  text += fmt::format("{}, {}: {}", name_of(other), run_text(other),
                      format_seconds(other.time_s.value));
  if (other.energy_j)
    text += fmt::format(", {}, {}", format_si(other.power_w->value, "W"),
                        format_si(other.energy_j->value, "J"));
  if (other.service && other.service->energy_j && plan.chosen.service->energy_j)
    text += fmt::format(" ({} energy{})",
                        change_text(1 - *other.service->energy_j / *plan.chosen.service->energy_j),
                        saved_of(plan.run.scenario));
  else if (other.energy_j && plan.chosen.energy_j && other.batch == plan.chosen.batch)
    text += fmt::format(" ({} energy)",
                        change_text(1 - other.energy_j->value / plan.chosen.energy_j->value));
  return wrap(text, width, 2) + "\n";
}

// Clocks in MHz.
std::vector<Column> mode_columns(const char* time, const char* energy = "J/sample") {
  return {{"gpu", Align::right},
          {"emc", Align::right},
          {"cpu", Align::right},
          {"cores", Align::right},
          {"SM", Align::right},
          {"batch", Align::right},
          {"dtype", Align::left, false, 1},
          {time, Align::right},
          {"power", Align::right},
          {energy, Align::right},
          {"stock", Align::left, false, 2}};
}

std::vector<std::string> mode_cells(const OperatingPoint& point, std::int64_t batch, DType dtype) {
  const auto count = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : "";
  };
  return {megahertz(point.gpu_hz),      megahertz(point.memory_hz), cpu_megahertz(point),
          count(point.cpu_cores),       count(point.gpu_units),     std::to_string(batch),
          std::string(to_string(dtype))};
}

std::string optional_si(const std::optional<double>& value, const char* unit) {
  return value ? format_si(*value, unit) : "";
}

// Time, power and energy as the scenario has them: of a batch, of an epoch, per trained sample.
std::vector<Column> scenario_columns(Scenario scenario, const char* time) {
  if (scenario == Scenario::training) return mode_columns("epoch", "J/epoch");
  return scenario == Scenario::concurrent ? mode_columns("trained/s", "J/trained")
                                          : mode_columns(time);
}

std::string runners_text(const Plan& plan, int width) {
  if (plan.runners_up.empty()) return "";
  TextTable table{scenario_columns(plan.run.scenario, "time"), {}};
  for (const PlannedMode& mode : plan.runners_up) {
    std::vector<std::string> cells = mode_cells(mode.point, mode.batch, mode.dtype);
    if (const auto& service = mode.service) {
      cells.push_back(plan.concurrent ? format_number(service->samples_per_s)
                                      : format_seconds(service->time_s));
      cells.push_back(optional_si(service->mean_power_w, "W"));
      cells.push_back(optional_si(service->energy_j, "J"));
    } else {
      cells.push_back(format_seconds(mode.time_s.value));
      cells.push_back(mode.power_w ? format_si(mode.power_w->value, "W") : "");
      cells.push_back(mode.energy_j
                          ? format_si(mode.energy_j->value / static_cast<double>(mode.batch), "J")
                          : "");
    }
    cells.push_back(mode.point.label);
    table.rows.push_back(std::move(cells));
  }
  return "\nnext best, unlike the choice and each other; clocks in MHz\n" +
         render_text(table, width);
}

// The two ends of the front and others evenly between them.
std::string front_text(const Plan& plan, int width) {
  if (plan.pareto.size() < 2) return "";
  TextTable table{scenario_columns(plan.run.scenario, "latency"), {}};
  std::set<std::size_t> shown;
  const std::size_t last = plan.pareto.size() - 1;
  const std::size_t count = std::min(shown_front, plan.pareto.size());
  for (std::size_t i = 0; i < count; ++i) shown.insert(i * last / (count - 1));
  for (const std::size_t i : shown) {
    const FrontPoint& point = plan.pareto[i];
    std::vector<std::string> cells = mode_cells(point.point, point.batch, point.dtype);
    cells.push_back(plan.concurrent ? format_number(point.samples_per_s)
                                    : format_seconds(point.latency_s));
    cells.push_back(optional_si(point.power_w, "W"));
    cells.push_back(optional_si(point.energy_j, "J"));
    cells.push_back(point.point.label);
    table.rows.push_back(std::move(cells));
  }
  const char* delay = plan.training ? "time of an epoch" : plan.concurrent ? "training" : "latency";
  return fmt::format("\nPareto front of {}, energy and power: {} of {} points\n", delay,
                     shown.size(), plan.pareto.size()) +
         render_text(table, width);
}

std::string knob_changes_text(const Plan& plan, int width) {
  if (plan.knob_changes.empty()) return "";
  TextTable table{{{"one step"},
                   {"time", Align::right},
                   {"energy", Align::right},
                   {"limits hold", Align::right},
                   {"mode", Align::left, true, 1}},
                  {}};
  const auto change = [](double value) {
    return (value > 0 ? "+" : "") + format_percent(value, 1);
  };
  for (const KnobChange& knob : plan.knob_changes)
    table.rows.push_back({knob.knob + (knob.up ? " up" : " down"), change(knob.time_change),
                          knob.energy_change ? change(*knob.energy_change) : "",
                          format_percent(knob.probability) + (knob.holds ? "" : ", too few"),
                          knob.request});
  return "\none step of each knob away from the choice\n" + render_text(table, width);
}

std::string next_text(const Plan& plan, int width) {
  if (plan.measure_next.empty()) return "";
  std::string text = "\nmeasure to be sure\n";
  for (const MeasureNext& next : plan.measure_next)
    text += "  " +
            wrap(fmt::format("{}, batch {}, {}: {}", next.request, next.batch,
                             to_string(next.dtype), next.reason),
                 width, 4, 2) +
            "\n";
  return text;
}

std::string why_text(const Plan& plan, int width) {
  if (!plan.why) return "";
  const PlannedMode& run = plan.why->run;
  std::string text = fmt::format("why not {} ({}: {}", plan.why->mode, run_text(run),
                                 format_seconds(run.time_s.value));
  if (run.energy_j)
    text += fmt::format(", {}, {}", format_si(run.power_w->value, "W"),
                        format_si(run.energy_j->value, "J"));
  if (const auto& service = run.service) {
    text += plan.concurrent ? fmt::format("; {} trained samples per second",
                                          format_number(service->samples_per_s))
                            : fmt::format("; an epoch in {}", format_seconds(service->time_s));
    if (service->mean_power_w)
      text += fmt::format(" at {} on average", format_si(*service->mean_power_w, "W"));
  }
  text += "): ";
  for (std::size_t i = 0; i < plan.why->reasons.size(); ++i)
    text += (i > 0 ? "; " : "") + plan.why->reasons[i];
  return "\n" + wrap(text, width, 2) + "\n";
}

}  // namespace

std::string plan_text(const Plan& plan, bool explain, int width) {
  std::string text = answer(plan, width) + totals(plan.chosen, plan.run.scenario, width) +
                     period_text(plan, width) + training_text(plan, width) +
                     concurrent_text(plan, width) +
                     saving_text(plan.vs_default, "default mode", plan.run.scenario, width) +
                     saving_text(plan.vs_fastest, "fastest mode", plan.run.scenario, width) +
                     limits_text(plan, width) + other_reach_text(plan, width) +
                     why_text(plan, width) + (explain ? knob_changes_text(plan, width) : "") +
                     runners_text(plan, width) + front_text(plan, width) + next_text(plan, width);
  if (!plan.warnings.empty()) text += "\n";
  for (const std::string& warning : plan.warnings)
    text += wrap("note: " + warning, width, 2) + "\n";
  return text;
}

}  // namespace ridgeline
