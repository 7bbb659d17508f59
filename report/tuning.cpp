// The answer is the first line; everything below says how it was found.
#include "report/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string setting_name(const TunedSetting& setting) {
  return fmt::format("{} thread{}, batch {}", setting.threads, setting.threads == 1 ? "" : "s",
                     setting.batch);
}

double per_sample(const TunedSetting& setting, double value) {
  return value / static_cast<double>(setting.batch);
}

std::string choice_line(const ReportedTuning& reported) {
  const TunedSetting& chosen = reported.settings[reported.tuning.choice.setting];
  std::string text = setting_name(chosen) + ": ";
  const Estimate& time_s = chosen.time_s ? *chosen.time_s : chosen.predicted_s;
  text += format_seconds(per_sample(chosen, time_s.value)) + " per sample";
  if (chosen.batch > 1) text += fmt::format(" ({} per batch)", format_seconds(time_s.value));
  if (chosen.energy_j)
    text +=
        fmt::format(", {} per sample", format_si(per_sample(chosen, chosen.energy_j->value), "J"));
  text += chosen.time_s ? ", measured" : ", predicted: nothing was run";
  return text;
}

std::string status_line(const ReportedTuning& reported) {
  const Tuning& tuning = reported.tuning;
  return fmt::format("{} run{} of {} settings; expected regret {} (limit {}){}", tuning.runs.size(),
                     tuning.runs.size() == 1 ? "" : "s", reported.settings.size(),
                     format_percent(tuning.choice.regret, 1),
                     format_percent(reported.wanted.regret, 1),
                     tuning.reached ? "" : ": not reached");
}

std::string subject_line(const ReportedTuning& reported) {
  std::set<int> threads;
  std::set<std::int64_t> batches;
  for (const TunedSetting& setting : reported.settings) {
    threads.insert(setting.threads);
    batches.insert(setting.batch);
  }
  std::string text =
      fmt::format("{}, {}, {}, {}; threads {}; batch {}; least {} per sample", reported.network,
                  to_string(reported.task), to_string(reported.dtype), reported.library,
                  fmt::join(threads, ", "), fmt::join(batches, ", "),
                  reported.wanted.goal.energy ? "energy" : "time");
  if (reported.wanted.goal.latency_s)
    text += fmt::format("; at most {} per batch", format_seconds(*reported.wanted.goal.latency_s));
  return text;
}

std::string runs_table(const ReportedTuning& reported, int width) {
  const bool energy = reported.wanted.goal.energy;
  TextTable table{{{"run", Align::right},
                   {"threads", Align::right},
                   {"batch", Align::right},
                   {"predicted", Align::right},
                   {"measured", Align::right},
                   {"per sample", Align::right}},
                  {}};
  if (energy) table.columns.push_back({"energy", Align::right});
  table.columns.push_back({"choice", Align::right});
  table.columns.push_back({"regret", Align::right});
  const auto name = [&](std::size_t setting) {
    return fmt::format("{} × {}", reported.settings[setting].threads,
                       reported.settings[setting].batch);
  };
  std::vector<std::string> before{"-", "", "", "", "", ""};
  if (energy) before.emplace_back();
  before.push_back(name(reported.tuning.before.setting));
  before.push_back(format_percent(reported.tuning.before.regret, 1));
  table.rows.push_back(std::move(before));
  int number = 0;
  for (const TuningRun& run : reported.tuning.runs) {
    const TunedSetting& setting = reported.settings[run.setting];
    std::vector<std::string> cells{std::to_string(++number),
                                   std::to_string(setting.threads),
                                   std::to_string(setting.batch),
                                   format_seconds(setting.predicted_s.value),
                                   format_seconds(run.measured.time_s),
                                   format_seconds(per_sample(setting, run.measured.time_s))};
    if (energy)
      cells.push_back(
          setting.energy_j ? format_si(per_sample(setting, setting.energy_j->value), "J") : "-");
    cells.push_back(name(run.choice.setting));
    cells.push_back(format_percent(run.choice.regret, 1));
    table.rows.push_back(std::move(cells));
  }
  return render_text(table, width);
}

Json decision_to_json(const Decision& decision) {
  return {{"setting", decision.setting}, {"expected_regret", decision.regret}};
}

}  // namespace

std::string tuning_text(const ReportedTuning& reported, int width) {
  std::string text = wrap(choice_line(reported), width, 2) + "\n";
  text += wrap(status_line(reported), width, 2) + "\n\n";
  text += wrap(subject_line(reported), width, 2) + "\n\n";
  text += runs_table(reported, width);
  text +=
      wrap(
          "choice: threads × batch, after the run; regret: what it is expected to cost above the "
          "best setting",
          width, 2) +
      "\n";
  for (const std::string& note : reported.notes) text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

Json to_json(const ReportedTuning& reported) {
  Json settings = Json::array();
  for (const TunedSetting& setting : reported.settings)
    settings.push_back({{"threads", setting.threads},
                        {"batch", setting.batch},
                        {"predicted_s", to_json(setting.predicted_s)},
                        {"time_s", nullable(setting.time_s)},
                        {"power_w", nullable(setting.power_w)},
                        {"energy_j", nullable(setting.energy_j)},
                        {"disturbed", setting.disturbed}});
  Json runs = Json::array();
  for (const TuningRun& run : reported.tuning.runs)
    runs.push_back({{"setting", run.setting},
                    {"time_s", run.measured.time_s},
                    {"power_w", nullable(run.measured.power_w)},
                    {"regret_expected_before", run.regret_expected},
                    {"choice", decision_to_json(run.choice)}});
  const DecisionGoal& goal = reported.wanted.goal;
  return {{"schema", ReportedTuning::schema},
          {"network", reported.network},
          {"options", reported.options},
          {"task", to_string(reported.task)},
          {"dtype", to_string(reported.dtype)},
          {"device", reported.device},
          {"library", reported.library},
          {"goal", goal.energy ? "energy" : "time"},
          {"latency_limit_s", nullable(goal.latency_s)},
          {"limits_hold", reported.limits_hold},
          {"regret_limit", reported.wanted.regret},
          {"reached", reported.tuning.reached},
          {"before", decision_to_json(reported.tuning.before)},
          {"choice", decision_to_json(reported.tuning.choice)},
          {"settings", settings},
          {"runs", runs},
          {"notes", reported.notes}};
}

std::string to_csv(const ReportedTuning& reported) {
  std::string text = csv_row({"run", "threads", "batch", "time_s", "power_w", "choice_threads",
                              "choice_batch", "expected_regret"});
  int number = 0;
  for (const TuningRun& run : reported.tuning.runs) {
    const TunedSetting& setting = reported.settings[run.setting];
    const TunedSetting& choice = reported.settings[run.choice.setting];
    text += csv_row({std::to_string(++number), std::to_string(setting.threads),
                     std::to_string(setting.batch), csv_number(run.measured.time_s),
                     run.measured.power_w ? csv_number(*run.measured.power_w) : "",
                     std::to_string(choice.threads), std::to_string(choice.batch),
                     csv_number(run.choice.regret)});
  }
  return text;
}

}  // namespace ridgeline
