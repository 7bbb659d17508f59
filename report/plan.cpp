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
namespace {

// "1.2 s to 1.5 s" of an Estimate's ends as they are written.
std::string interval_text(const Estimate& estimate, const std::string& low,
                          const std::string& high) {
  return estimate.low < estimate.high ? low + " to " + high : "no interval";
}

std::string seconds(double value) { return format_seconds(value); }
std::string joules(double value) { return format_si(value, "J"); }
std::string watts(double value) { return format_si(value, "W"); }

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

std::string memory_paragraph(const Plan& plan, int width) {
  const std::string line = memory_line(plan.memory, width);
  return line.empty() ? "" : line + "\n";
}

std::string epoch_line(const char* which, const TrainedEpoch& epoch) {
  std::string text = fmt::format("{}: {}", which, seconds(epoch.time_s));
  if (epoch.energy_j > 0) text += ", " + joules(epoch.energy_j);
  return text + fmt::format("; the device works {} and waits {}, {} of the samples from memory",
                            seconds(epoch.device_s), seconds(epoch.stall_s),
                            format_percent(epoch.hit_share));
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

std::string clock_text(const PlannedTraining& training) {
  if (!training.lowest_core_hz)
    return "fetching alone is too slow for the device at any core clock";
  const int workers = std::max(1, training.run.pipeline.workers);
  return fmt::format("with {} worker{} and {} core{}, a core clock of {} is enough (now {})",
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

// Epochs and their input; empty where the plan is not for training.
std::string training_text(const Plan& plan, int width) {
  if (!plan.training) return "";
  const PlannedTraining& training = *plan.training;
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
  text += wrap(epoch_line("first epoch", training.first), width, 2) + "\n";
  text += wrap(epoch_line("later epochs", training.later), width, 2) + "\n";
  text += wrap(fmt::format("bound by {}; {}; {}", bound_text(training.bound),
                           workers_text(training), clock_text(training)),
               width, 2) +
          "\n\n";
  return text + input_text(training.run, width) + "\n";
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
  add_row(table, "trained", both.samples_per_s,
          [](double value) { return format_number(value) + " /s"; });
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
  text += chosen.reach == Reach::reboot ? "; needs a reboot" : "";
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
  return "\nalternatives; clocks in MHz\n" + render_text(table, width);
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

std::string number(double value) { return std::isfinite(value) ? csv_number(value) : ""; }

}  // namespace

std::string plan_text(const Plan& plan, bool explain, int width) {
  std::string text = answer(plan, width) + totals(plan.chosen, plan.run.scenario, width) +
                     memory_paragraph(plan, width) + period_text(plan, width) +
                     training_text(plan, width) + concurrent_text(plan, width) +
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
                           (!is_both || variant.minibatch == chosen.service->minibatch);
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

}  // namespace ridgeline
