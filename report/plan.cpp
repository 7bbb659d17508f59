// Tables where rows are compared, sentences where they are not; every mode, batch and type as CSV.
#include "report/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/memory.h"
#include "report/modes.h"

namespace ridgeline {

std::string goal_text(const PlannedRun& run, bool generates) {
  const bool has_arrivals = run.objective.arrivals.has_value();
  const bool is_training = run.scenario == Scenario::training;
  const bool is_both = run.scenario == Scenario::concurrent;
  switch (run.objective.goal) {
    case Goal::energy:
      if (is_training) return "least energy per epoch";
      if (is_both) return "least energy per trained sample, inference included";
      return fmt::format("least energy per {}{}", generates ? "request" : "sample",
                         has_arrivals ? " with idle time" : "");
    case Goal::time:
      if (is_training) return "least time per epoch";
      if (is_both) return "most training";
      if (has_arrivals) return "least latency";
      return generates ? "least time per request" : "least time per sample";
    case Goal::power:
      return "least mean power";
    case Goal::edp:
      return "least energy × delay";
  }
  return "";
}

namespace {

// "1.2 s to 1.5 s" of an Estimate's ends as they are written.
std::string interval_text(const Estimate& estimate, const std::string& low,
                          const std::string& high) {
  return estimate.low < estimate.high ? low + " to " + high : "no interval";
}

std::string seconds(double value) { return format_seconds(value); }
std::string joules(double value) { return format_si(value, "J"); }
std::string watts(double value) { return format_si(value, "W"); }
std::string rate_text(double value) { return format_number(value) + " /s"; }

template <class Format>
void add_row(TextTable& table, const char* what, const std::optional<Estimate>& estimate,
             Format format) {
  if (!estimate) return;
  table.rows.push_back({what, format(estimate->value),
                        interval_text(*estimate, format(estimate->low), format(estimate->high)),
                        std::string(to_string(estimate->source))});
}

TextTable totals_table(const char* what) {
  return {{{what}, {"value", Align::right}, {"90 % interval"}, {"source"}}, {}};
}

// First and later epochs side by side, with what tegrastats, iostat and vmtouch would show.
std::string epochs_table(const PlannedTraining& training, int width) {
  TextTable table{
      {{"an epoch"}, {"first", Align::right}, {"later", Align::right}, {"", Align::left}}, {}};
  const auto add = [&](const char* what, auto value, const char* meaning) {
    table.rows.push_back({what, value(training.first), value(training.later), meaning});
  };
  add(
      "time", [](const TrainedEpoch& e) { return seconds(e.time_s); }, "");
  add(
      "GPU works", [](const TrainedEpoch& e) { return seconds(e.device_s); }, "");
  add(
      "data stall", [](const TrainedEpoch& e) { return seconds(e.wait_s); }, "waits for samples");
  add(
      "host, not hidden", [](const TrainedEpoch& e) { return seconds(e.unhidden_s); },
      "queue and copy");
  if (std::isfinite(training.first.energy_j))
    add(
        "energy", [](const TrainedEpoch& e) { return joules(e.energy_j); }, "");
  add(
      "GPU busy", [](const TrainedEpoch& e) { return format_percent(e.device_s / e.time_s); }, "");
  add(
      "CPU busy",
      [&](const TrainedEpoch& e) {
        return format_percent(std::min(1.0, e.host_s / (training.cores * e.time_s)));
      },
      training.cores == 1 ? "of one core" : "of all cores");
  if (training.run.dataset.in_memory) return render_text(table, width);
  add(
      "reads", [](const TrainedEpoch& e) { return format_si(e.read_bytes / e.time_s, "B/s"); },
      "from storage");
  add(
      "from memory", [](const TrainedEpoch& e) { return format_percent(e.hit_share); },
      "hits of the page cache");
  return render_text(table, width);
}

const char* bound_text(TrainingBound bound) {
  switch (bound) {
    case TrainingBound::device:
      return "the device";
    case TrainingBound::input:
      return "the input pipeline";
    case TrainingBound::host:
      return "the host";
  }
  return "";
}

std::string workers_text(const PlannedTraining& training) {
  if (!training.fewest_workers)
    return fmt::format("no number of workers keeps the device busy on {} core{} at {}",
                       training.cores, training.cores == 1 ? "" : "s", format_hz(training.core_hz));
  const int fewest = *training.fewest_workers;
  return fmt::format("{} worker{} keep{} the device busy", fewest, fewest == 1 ? "" : "s",
                     fewest == 1 ? "s" : "");
}

// Empty where the clock does not matter: the device is the bound.
std::string clock_text(const PlannedTraining& training) {
  if (!training.lowest_core_hz)
    return "; fetching alone is too slow for the device at any core clock";
  if (training.bound == TrainingBound::device && *training.lowest_core_hz <= training.core_hz)
    return "";
  const int workers = std::max(1, training.run.pipeline.workers);
  return fmt::format("; with {} worker{} and {} core{}, a core clock of {} is enough (now {})",
                     workers, workers == 1 ? "" : "s", training.cores,
                     training.cores == 1 ? "" : "s", format_hz(*training.lowest_core_hz),
                     format_hz(training.core_hz));
}

std::string input_text(const TrainingRun& run, int width) {
  std::string text;
  const auto line = [&](const char* what, const std::string& facts, const std::string& origin) {
    text += wrap(fmt::format("{}: {} ({})", what, facts, origin), width, 2) + "\n";
  };
  line("dataset",
       fmt::format("{:.0f} samples of {}, {}", run.dataset.samples,
                   format_si(run.dataset.bytes_per_sample, "B"),
                   format_si(run.dataset.samples * run.dataset.bytes_per_sample, "B")),
       run.sources.dataset);
  const StorageMedium& storage = run.sources.storage;
  if (run.dataset.in_memory)
    text +=
        wrap("storage: not read in an epoch, the loader holds the dataset in memory", width, 2) +
        "\n";
  else
    line("storage",
         fmt::format("{}, {} per sample, {}", storage.name,
                     seconds(fetch_s(storage.cost, run.dataset.bytes_per_sample)),
                     to_string(storage.source)),
         storage.origin);
  line("decoding",
       fmt::format("{} clocks of a core per sample", format_si(run.pipeline.decode_clocks, "")),
       run.sources.decode);
  if (!run.dataset.in_memory)
    line("page cache", format_si(run.pipeline.free_memory_bytes, "B"), run.sources.memory);
  return text;
}

// Turns of training beside inference; empty where there are none.
std::string concurrent_text(const Plan& plan, int width) {
  if (!plan.concurrent) return "";
  const PlannedConcurrency& both = *plan.concurrent;
  TextTable step = totals_table("one training step");
  add_row(step, "time", both.step_s, seconds);
  add_row(step, "power", both.step_w, watts);
  add_row(step, "energy", both.step_j, joules);
  TextTable table = totals_table("both at once");
  add_row(table, "trained", both.samples_per_s, rate_text);
  add_row(table, "latency", both.latency_s, seconds);
  add_row(table, "power", both.mean_power_w, watts);
  std::string text = render_text(step, width) + "\n" + render_text(table, width) + "\n";
  text += wrap(fmt::format(
                   "{} trains minibatches of {} in {}; every {} a batch of {} is due: "
                   "inference takes {} of the time, training {}, {} is left",
                   both.run.network, both.minibatch, to_string(both.run.dtype),
                   seconds(static_cast<double>(plan.chosen.batch) / both.run.stream.requests_per_s),
                   plan.chosen.batch, format_percent(both.inference_share),
                   format_percent(both.training_share), format_percent(both.turns.idle_share)),
               width, 2) +
          "\n";
  std::string slack = fmt::format("without training a result would be {} earlier than it must",
                                  seconds(both.turns.slack_s));
  if (std::isfinite(both.turns.peak_w)) slack += "; power peaks at " + watts(both.turns.peak_w);
  text += wrap(slack, width, 2) + "\n";
  if (both.run.input) {
    if (both.turns.lost_to_input > 0)
      text +=
          wrap(fmt::format("loaders are too slow: {} of the steps that would find time are lost",
                           format_percent(both.turns.lost_to_input)),
               width, 2) +
          "\n";
    text += "\n" + input_text(*both.run.input, width);
  }
  return text + "\n";
}

constexpr std::size_t shown_front = 7;

std::string run_text(const PlannedMode& mode) {
  std::string text = fmt::format("batch {}, {}", mode.batch, to_string(mode.dtype));
  if (mode.service.minibatch != mode.batch)
    text += fmt::format(", minibatch {}", mode.service.minibatch);
  return text;
}

// A signed change as people say it: "12 % less", "3 % more", "as much".
int change_digits(double saved) { return std::abs(saved) < 0.0995 ? 1 : 0; }

std::string change_text(double saved) {
  const std::string share = format_percent(std::abs(saved), change_digits(saved));
  if (std::abs(saved) < 5e-4) return "as much";
  return share + (saved > 0 ? " less" : " more");
}

// What to type, or else how the mode can be had.
std::string mode_line(const Plan& plan) {
  const PlannedMode& chosen = plan.chosen;
  std::string text;
  if (chosen.stock) {
    text = fmt::format("mode {}", chosen.point.label);
    text += chosen.command.empty() ? "" : ": " + chosen.command;
  } else {
    text = "mode: " + (chosen.command.empty() ? "" : chosen.command + ", ") + chosen.request;
    if (!chosen.nearest_stock.empty())
      text += fmt::format(" (nearest stock mode: {})", chosen.nearest_stock);
  }
  if (chosen.reach == Reach::reboot) text += "; needs a reboot";
  if (!chosen.stock && plan.run.leads_with_stock)
    text += plan.run.stock_modes > 0 ? "; no stock mode meets the limits" : "";
  return text;
}

// How a board gets into a mode that nvpmodel does not have: two lines of one command, as it is
// longer than a line.
std::string entering_text(const Plan& plan) {
  const PlannedMode& chosen = plan.chosen;
  if (chosen.stock || !chosen.command.empty() || !plan.run.device.starts_with("jetson")) return "";
  if (chosen.reach == Reach::reboot) return "to enter it: --nvpmodel FILE writes it for nvpmodel\n";
  return "on the board: sudo ridgeline modes set --lock --apply \\\n  " + chosen.request + "\n";
}

std::string count_text(const PlannedRun& run) {
  const auto modes = [](std::size_t count, const char* kind) {
    return fmt::format("{}{} mode{}", count, kind, count == 1 ? "" : "s");
  };
  std::string text = run.leads_with_stock && run.stock_modes > 0 ? modes(run.stock_modes, " stock")
                                                                 : modes(run.modes, "");
  if (run.leads_with_stock && run.modes > run.stock_modes && run.stock_modes > 0)
    text += fmt::format(" and {} others", run.modes - run.stock_modes);
  if (run.choices > run.modes) text += fmt::format(", {} with batches and types", run.choices);
  return text;
}

std::string answer(const Plan& plan, int width) {
  std::string about = plan.training ? "training " : "";
  if (plan.concurrent)
    about = fmt::format("training {} by {} beside ", plan.concurrent->run.network,
                        to_string(plan.concurrent->run.runtime));
  const std::string goal = goal_text(plan.run, plan.chosen.generation.has_value());
  about += fmt::format("{}, {}, on {} by {}: {} among {}", plan.run.network, run_text(plan.chosen),
                       plan.run.machine, to_string(plan.run.runtime), goal, count_text(plan.run));
  return wrap(mode_line(plan), width, 2) + "\n" + entering_text(plan) + wrap(about, width, 2) +
         "\n\n";
}

// One batch by itself.
std::string batch_totals(const PlannedMode& mode, Scenario scenario, int width) {
  TextTable table{{{scenario == Scenario::training     ? "one minibatch"
                    : scenario == Scenario::concurrent ? "one inference batch"
                                                       : "one batch"},
                   {"value", Align::right},
                   {"90 % interval"},
                   {"source"},
                   {"per sample", Align::right}},
                  {}};
  const double samples = static_cast<double>(mode.batch);
  add_row(table, "time", mode.time_s, seconds);
  table.rows.back().push_back(seconds(mode.time_s.value / samples));
  if (mode.power_w) {
    add_row(table, "power", mode.power_w, watts);
    table.rows.back().emplace_back();
  }
  if (mode.energy_j) {
    add_row(table, "energy", mode.energy_j, joules);
    table.rows.back().push_back(joules(mode.energy_j->value / samples));
  }
  return render_text(table, width) + "\n";
}

// At a rate: power and energy with idle time; the busy values are called so.
std::string rated_totals(const Plan& plan, int width) {
  const PlannedRate& rated = *plan.rated;
  const auto& arrivals = plan.run.objective.arrivals;
  const std::string heading =
      arrivals ? fmt::format("at {} /s", format_number(arrivals->per_s)) : "with host work";
  TextTable table = totals_table(heading.c_str());
  add_row(table, "latency", rated.latency_s, seconds);
  add_row(table, "mean power", rated.mean_power_w, watts);
  const bool is_request = plan.chosen.generation.has_value();  // its busy values stand above
  add_row(table, is_request ? "energy per request" : "energy per sample", rated.sample_energy_j,
          joules);
  if (!is_request) {
    add_row(table, "time of a batch while busy", plan.chosen.time_s, seconds);
    add_row(table, "power while busy", plan.chosen.power_w, watts);
  }
  add_row(table, "could serve", rated.samples_per_s, rate_text);
  return render_text(table, width) + "\n";
}

// A language model's request in its own words.
std::string generation_totals(const Plan& plan, int width) {
  const PlannedGeneration& generation = *plan.chosen.generation;
  TextTable table = totals_table(plan.rated ? "one request, while busy" : "one request");
  add_row(table, "time to first token", generation.first_token_s, seconds);
  add_row(table, "tokens", generation.tokens_per_s, rate_text);
  add_row(table, "energy per token", generation.token_energy_j, joules);
  add_row(table, "whole request", plan.chosen.time_s, seconds);
  add_row(table, "power", plan.chosen.power_w, watts);
  add_row(table, "energy", plan.chosen.energy_j, joules);
  return render_text(table, width) + "\n";
}

// A language model in every stock mode.
std::string stock_table(const Plan& plan, int width) {
  if (plan.stock_runs.size() < 2) return "";
  TextTable table{{{plan.rated ? "stock mode, while busy" : "stock mode"},
                   {"id", Align::right},
                   {"first token", Align::right},
                   {"tokens/s", Align::right},
                   {"power", Align::right},
                   {"J/token", Align::right},
                   {"request", Align::right}},
                  {}};
  for (const PlannedMode& mode : plan.stock_runs) {
    const PlannedGeneration& generation = *mode.generation;
    table.rows.push_back(
        {mode.point.label, mode.nvpmodel_id ? std::to_string(*mode.nvpmodel_id) : "",
         seconds(generation.first_token_s.value), format_number(generation.tokens_per_s.value),
         mode.power_w ? watts(mode.power_w->value) : "",
         generation.token_energy_j ? joules(generation.token_energy_j->value) : "",
         seconds(mode.time_s.value)});
  }
  return render_text(table, width) + "\n";
}

std::string totals(const Plan& plan, int width) {
  if (plan.chosen.generation)
    return generation_totals(plan, width) + stock_table(plan, width) +
           (plan.rated ? rated_totals(plan, width) : "");
  return plan.rated ? rated_totals(plan, width)
                    : batch_totals(plan.chosen, plan.run.scenario, width);
}

std::string period_text(const Plan& plan, int width) {
  if (!plan.chosen.period) return "";
  const PlannedPeriod& period = *plan.chosen.period;
  std::string text =
      fmt::format("a {} every {}: busy {} of the time",
                  plan.chosen.generation && plan.chosen.batch == 1 ? "request" : "batch",
                  format_seconds(period.period_s), format_percent(period.duty));
  if (period.idle_w) text += fmt::format(", idle at {} in between", format_si(*period.idle_w, "W"));
  return wrap(text, width, 2) + "\n";
}

// What energy and time are of, beside a single batch.
std::string saved_of(Scenario scenario) {
  if (scenario == Scenario::training) return " per epoch";
  return scenario == Scenario::concurrent ? " per trained sample" : "";
}

// "14 % less energy (4 % to 24 %), 50 % more time".
std::string saved_text(const Saving& saving, Scenario scenario) {
  std::string text;
  if (saving.energy) {
    text += change_text(*saving.energy) + " energy" + saved_of(scenario);
    if (saving.energy_low && *saving.energy_low < *saving.energy_high) {
      // In the sense of the word before it, and as exact: rounded further, it could miss the value.
      const bool is_less = *saving.energy >= 0;
      const int digits = change_digits(*saving.energy);
      const double low = is_less ? *saving.energy_low : -*saving.energy_high;
      const double high = is_less ? *saving.energy_high : -*saving.energy_low;
      text += low >= 0 ? fmt::format(" ({} to {})", format_percent(low, digits),
                                     format_percent(high, digits))
                       : fmt::format(" ({} {} to {} {})", format_percent(-low, digits),
                                     is_less ? "more" : "less", format_percent(high, digits),
                                     is_less ? "less" : "more");
    }
    text += ", ";
  }
  return text + change_text(saving.time) + " time";
}

std::string saving_text(const Plan& plan, const std::optional<Saving>& saving, const char* whom,
                        int width) {
  if (!saving || saving->mode == name_of(plan.chosen)) return "";
  return wrap(fmt::format("against the {} ({}): {}", whom, saving->mode,
                          saved_text(*saving, plan.run.scenario)),
              width, 2) +
         "\n";
}

// Other modes that are better, or that need no reboot.
std::string alternative_text(const std::optional<PlannedAlternative>& other, const char* how,
                             const Plan& plan, int width) {
  if (!other) return "";
  std::string text = fmt::format("{}: {}", how, name_of(other->mode));
  if (!other->mode.command.empty()) text += fmt::format(" ({})", other->mode.command);
  if (other->mode.batch != plan.chosen.batch || other->mode.dtype != plan.chosen.dtype)
    text += ", " + run_text(other->mode);
  text += fmt::format(": against {} {}", plan.chosen.stock ? plan.chosen.point.label : "the choice",
                      saved_text(other->saving, plan.run.scenario));
  if (!other->mode.stock && other->mode.command.empty() && plan.run.stock_modes > 0)
    text += "; --nvpmodel FILE writes it for nvpmodel";
  return wrap(text, width, 2) + "\n";
}

std::string narrower_text(const Plan& plan, int width) {
  if (!plan.narrower_type) return "";
  const auto& [mode, saving] = *plan.narrower_type;
  return wrap(fmt::format("--dtype {} instead of {}: {}, {}", to_string(mode.dtype),
                          to_string(plan.chosen.dtype), name_of(mode),
                          saved_text(saving, plan.run.scenario)),
              width, 2) +
         "\n";
}

std::string limits_text(const Plan& plan, int width) {
  if (plan.limits.empty()) return "no limits given\n";
  std::string text;
  for (const PlannedLimit& limit : plan.limits) {
    std::string line =
        fmt::format("{}: {} (limit {}), met with probability {}", to_string(limit.limit.kind),
                    limit_value_text(limit.limit.kind, limit.value),
                    limit_value_text(limit.limit.kind, limit.limit.bound),
                    format_probability(limit.probability));
    if (limit.gain_without)
      line += fmt::format("; active: without it {} less {}", format_percent(*limit.gain_without, 1),
                          to_string(plan.run.objective.goal));
    text += wrap(line, width, 2) + "\n";
  }
  if (plan.limits.size() > 1)
    text += fmt::format("all limits are met with probability {}\n",
                        format_probability(plan.chosen.probability));
  return text;
}

// Clocks in MHz.
std::vector<Column> mode_columns(const char* time, const char* energy = "J/sample") {
  return {{"gpu", Align::right},
          {"emc", Align::right},
          {"cpu", Align::right},
          {"cores", Align::right},
          {"SM", Align::right},
          {"batch", Align::right},
          {"dtype", Align::left, false, 2},
          {time, Align::right},
          {"power", Align::right},
          {energy, Align::right},
          {"stock", Align::left, false, 1}};
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
std::vector<Column> scenario_columns(const Plan& plan, const char* time) {
  if (plan.training) return mode_columns("epoch", "J/epoch");
  if (plan.concurrent) return mode_columns("trained/s", "J/trained");
  if (plan.chosen.generation)
    return mode_columns(plan.run.objective.arrivals ? time : "request", "J/request");
  return mode_columns(time);
}

const char* idle_text(const Plan& plan) {
  return plan.run.objective.arrivals ? "; power and energy with idle time" : "";
}

std::string runners_text(const Plan& plan, int width) {
  if (plan.runners_up.empty()) return "";
  const bool at_rate = plan.run.objective.arrivals.has_value();
  TextTable table{scenario_columns(plan, at_rate ? "latency" : "time"), {}};
  for (const PlannedMode& mode : plan.runners_up) {
    const PlannedService& service = mode.service;
    std::vector<std::string> cells = mode_cells(mode.point, mode.batch, mode.dtype);
    cells.push_back(plan.concurrent ? format_number(service.samples_per_s)
                    : at_rate       ? format_seconds(service.latency_s)
                                    : format_seconds(service.time_s));
    cells.push_back(optional_si(service.mean_power_w, "W"));
    cells.push_back(optional_si(service.energy_j, "J"));
    cells.push_back(mode.point.label);
    table.rows.push_back(std::move(cells));
  }
  return fmt::format("\nalternatives; clocks in MHz{}\n", idle_text(plan)) +
         render_text(table, width);
}

// The two ends of the front and others evenly between them.
std::string front_text(const Plan& plan, int width) {
  if (plan.pareto.size() < 2) return "";
  TextTable table{scenario_columns(plan, "latency"), {}};
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
  const char* delay = plan.training                           ? "time of an epoch"
                      : plan.concurrent                       ? "training"
                      : plan.chosen.generation && !plan.rated ? "time of a request"
                                                              : "latency";
  return "\n" +
         wrap(fmt::format("Pareto front of {}, energy and power: {} of {} points{}", delay,
                          shown.size(), plan.pareto.size(), idle_text(plan)),
              width, 2) +
         "\n" + render_text(table, width);
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
                          format_probability(knob.probability) + (knob.holds ? "" : ", too few"),
                          knob.request});
  return "\none step of each knob from the choice\n" + render_text(table, width);
}

std::string next_text(const Plan& plan, int width) {
  if (plan.measure_next.empty()) return "";
  std::string text = "\nto be sure, measure\n";
  for (const MeasureNext& next : plan.measure_next)
    text += "  " +
            wrap(fmt::format("{}, batch {}, {}: {}", next.request, next.batch,
                             to_string(next.dtype), next.reason),
                 width, 4, 2) +
            "\n";
  return text +
         "  --probes-csv FILE writes the rows and commands; 'ridgeline calibrate' reads it\n";
}

// What a mode gives, in the words of the scenario.
std::string service_text(const Plan& plan, const PlannedMode& mode) {
  const PlannedService& service = mode.service;
  std::string text;
  if (plan.concurrent)
    text = format_number(service.samples_per_s) + " trained samples per second";
  else if (plan.training)
    text = "an epoch in " + format_seconds(service.time_s);
  else
    text = format_seconds(service.latency_s);
  if (service.mean_power_w)
    text += fmt::format(", {}{}, {}{}", format_si(*service.mean_power_w, "W"),
                        plan.rated ? " on average" : "", format_si(*service.energy_j, "J"),
                        plan.training            ? ""
                        : plan.concurrent        ? " per trained sample"
                        : plan.chosen.generation ? " per request"
                                                 : " per sample");
  if (plan.rated && mode.power_w)
    text += fmt::format("; {} while busy", format_si(mode.power_w->value, "W"));
  return text;
}

std::string why_text(const Plan& plan, int width) {
  if (!plan.why) return "";
  const PlannedMode& run = plan.why->run;
  std::string text =
      fmt::format("why not {} ({}: {}): ", plan.why->mode, run_text(run), service_text(plan, run));
  for (std::size_t i = 0; i < plan.why->reasons.size(); ++i)
    text += (i > 0 ? "; " : "") + plan.why->reasons[i];
  return "\n" + wrap(text, width, 2) + "\n";
}

std::string number(double value) { return std::isfinite(value) ? csv_number(value) : ""; }

}  // namespace

std::string training_text(const PlannedTraining& training, int width) {
  TextTable table = totals_table(training.run.epochs ? "mean epoch" : "later epoch");
  add_row(table, "time", training.epoch_s, seconds);
  add_row(table, "power", training.mean_power_w, watts);
  add_row(table, "energy", training.epoch_j, joules);
  if (training.run.epochs) {
    const std::string all = fmt::format("all {:.0f}: ", *training.run.epochs);
    add_row(table, (all + "time").c_str(), training.run_s, seconds);
    add_row(table, (all + "energy").c_str(), training.run_j, joules);
  }
  std::string text = render_text(table, width) + "\n";
  text += epochs_table(training, width) + "\n" +
          wrap(fmt::format("bound by {}; {}{}", bound_text(training.bound), workers_text(training),
                           clock_text(training)),
               width, 2) +
          "\n\n";
  return text + input_text(training.run, width) + "\n";
}

std::string plan_text(const Plan& plan, bool explain, int width) {
  std::string text =
      answer(plan, width) + totals(plan, width) + period_text(plan, width) +
      (plan.training ? training_text(*plan.training, width) : "") + concurrent_text(plan, width) +
      alternative_text(plan.without_reboot, "without a reboot", plan, width) +
      alternative_text(plan.with_reboot, "with a reboot", plan, width) +
      narrower_text(plan, width) + saving_text(plan, plan.vs_default, "default mode", width) +
      saving_text(plan, plan.vs_fastest, "fastest mode", width) + limits_text(plan, width) +
      memory_line(plan.memory, width) + why_text(plan, width) +
      (explain ? knob_changes_text(plan, width) : "") + runners_text(plan, width) +
      front_text(plan, width) + next_text(plan, width);
  if (!plan.warnings.empty()) text += "\n";
  for (const std::string& warning : plan.warnings)
    text += wrap("note: " + warning, width, 2) + "\n";
  return text;
}

// Values and limits are judged at the means, except for the chosen line, which comes from the plan.
std::string plan_csv(const PlanProblem& problem, const PlanResult& result) {
  const Sweep& sweep = result.sweep;
  const Objective& objective = result.plan.run.objective;
  // What a row is compared by, as the task has it.
  const bool is_training = problem.scenario == Scenario::training;
  const bool is_both = problem.scenario == Scenario::concurrent;
  const char* delay = is_training ? "epoch_s" : "latency_s";
  const char* energy = is_training ? "epoch_energy_j"
                       : is_both   ? "trained_sample_energy_j"
                                   : "sample_energy_j";
  const char* rate = is_training || is_both ? "trained_samples_per_s" : "samples_per_s";
  std::string text =
      csv_row({"mode",         "label",   "stock",     "reach",       "gpu_units", "gpu_hz",
               "memory_hz",    "cpu_hz",  "cpu_cores", "batch",       "minibatch", "dtype",
               "time_s",       "power_w", "energy_j",  delay,         energy,      "mean_power_w",
               "peak_power_w", rate,      "slowdown",  "limits_hold", "chosen"});
  const PlannedMode& chosen = result.plan.chosen;
  for (std::size_t row = 0; row < sweep.costs.size(); ++row) {
    const CandidateMode& mode = problem.candidates.modes[sweep.mode_of(row)];
    const PlanVariant& variant = problem.variants[sweep.variant_of(row)];
    const BatchCost& cost = sweep.costs[row];
    if (!problem.candidates.is_eligible(sweep.mode_of(row)) || !std::isfinite(cost.time_s))
      continue;
    const Service service = service_at(problem, sweep, row, objective);
    const double slowdown = slowdown_at(problem, sweep, row);
    const bool holds =
        std::all_of(objective.limits.begin(), objective.limits.end(), [&](const Limit& limit) {
          return limited_value(limit.kind, service, slowdown) <= limit.bound;
        });
    const bool is_chosen = mode.point == chosen.point && variant.batch == chosen.batch &&
                           variant.dtype == chosen.dtype &&
                           (!is_both || variant.minibatch == chosen.service.minibatch);
    const OperatingPoint& point = mode.point;
    const std::int64_t minibatch = is_training ? variant.batch : variant.minibatch;
    const auto clock = [](const std::optional<double>& hz) { return hz ? hertz(*hz) : ""; };
    const auto count = [](const std::optional<int>& value) {
      return value ? std::to_string(*value) : "";
    };
    text += csv_row({request_text(point),
                     point.label,
                     mode.stock ? "true" : "false",
                     std::string(to_string(mode.reach)),
                     count(point.gpu_units),
                     clock(point.gpu_hz),
                     clock(point.memory_hz),
                     cpu_hertz(point),
                     count(point.cpu_cores),
                     std::to_string(variant.batch),
                     minibatch > 0 ? std::to_string(minibatch) : "",
                     std::string(to_string(variant.dtype)),
                     number(cost.time_s),
                     number(cost.power_w),
                     number(cost.power_w * cost.time_s),
                     number(service.latency_s),
                     number(service.energy_j),
                     number(service.mean_power_w),
                     number(service.peak_power_w),
                     number(1 / service.sample_s),
                     number(slowdown),
                     holds ? "true" : "false",
                     is_chosen ? "true" : "false"});
  }
  return text;
}

namespace {

// How one run is timed: into a file, or its mean goes into time_ms.
std::string timing_command(const Plan& plan, const std::string& model, const MeasureNext& next,
                           const std::string& file) {
  if (plan.run.runtime == Runtime::tensorrt) {
    const bool is_file = model.ends_with(".onnx");
    const char* precision = next.dtype == DType::fp16   ? " --fp16"
                            : next.dtype == DType::int8 ? " --fp16 --int8"
                            : next.dtype == DType::bf16 ? " --bf16"
                                                        : "";
    return fmt::format("trtexec --onnx={}{} --warmUp=2000 --duration=20 | tee {}{}",
                       is_file ? model : model + ".onnx", precision, file,
                       next.batch > 1 ? fmt::format(" (exported with batch {})", next.batch) : "");
  }
  if (!next.point.gpu_hz)
    return fmt::format("ridgeline run {} --batch {}{} (its median into time_ms)", model, next.batch,
                       plan.training ? " --train" : "");
  return fmt::format(
      "{}: mean of 200 runs after 50, with torch.cuda.synchronize() around them, "
      "into time_ms",
      to_string(plan.run.runtime));
}

}  // namespace

std::string probe_sheet(const Plan& plan, const std::string& model, const std::string& options) {
  std::string text =
      csv_row({"device",     "mode",     "gpu_mhz",      "memory_mhz",   "cpu_mhz",    "cpu_cores",
               "gpu_units",  "locked",   "model",        "options",      "batch",      "dtype",
               "runtime",    "task",     "time_ms",      "power_w",      "power_kind", "time_file",
               "power_file", "set_mode", "measure_time", "measure_power"});
  const auto megahertz_of = [](const std::optional<double>& hz) {
    return hz ? csv_number(*hz / 1e6) : "";
  };
  const auto count = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : "";
  };
  int probe = 0;
  for (const MeasureNext& next : plan.measure_next) {
    const OperatingPoint& point = next.point;
    const bool has_file = plan.run.runtime == Runtime::tensorrt;  // trtexec writes it
    const std::string time_file = fmt::format("probe{}-time.log", ++probe);
    const bool has_tegrastats = plan.run.stock_modes > 0 && plan.run.device.starts_with("jetson");
    const std::string power_file =
        has_tegrastats ? fmt::format("probe{}-power.log", probe) : std::string();
    const std::optional<double> cpu_hz =
        point.cpu_hz.empty() ? std::nullopt : std::optional(point.cpu_hz.front());
    text += csv_row(
        {plan.run.device,
         point.label,
         megahertz_of(point.gpu_hz),
         megahertz_of(point.memory_hz),
         megahertz_of(cpu_hz),
         count(point.cpu_cores),
         count(point.gpu_units),
         "yes",
         model,
         options,
         std::to_string(next.batch),
         std::string(to_string(next.dtype)),
         std::string(to_string(plan.run.runtime)),
         plan.run.scenario == Scenario::training ? "training" : "inference",
         "",
         "",
         "",
         has_file ? time_file : "",
         power_file,
         next.command.empty() && has_tegrastats
             ? "sudo ridgeline modes set " + next.request + " --lock --apply"
             : next.command,
         timing_command(plan, model, next, time_file),
         has_tegrastats
             ? fmt::format("tegrastats --interval 100 --logfile {} (start it before the run)",
                           power_file)
             : "ridgeline power --seconds 20 (during the run; its mean into power_w)"});
  }
  return text;
}

}  // namespace ridgeline
