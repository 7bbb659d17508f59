// ridgeline.validation/1 and the CSV of its rows. What no row could tell is null.
#include "base/csv.h"
#include "base/json.h"
#include "validation/validation.h"

namespace ridgeline {
namespace {

Json to_json(const Score& score) {
  return {{"rows", score.rows},
          {"groups", score.groups},
          {"time_mape", nullable(score.time_mape)},
          {"bias", nullable(score.time_bias)},
          {"coverage", nullable(score.time_coverage)},
          {"interval_half_width", nullable(score.time_half_width)},
          {"power_rows", score.power_rows},
          {"power_mape", nullable(score.power_mape)},
          {"power_bias", nullable(score.power_bias)},
          {"power_coverage", nullable(score.power_coverage)},
          {"energy_mape", nullable(score.energy_mape)},
          {"energy_bias", nullable(score.energy_bias)},
          {"energy_coverage", nullable(score.energy_coverage)},
          {"ranked_groups", score.ranked_groups},
          {"kendall_tau", nullable(score.kendall_tau)},
          {"choice_groups", score.choice_groups},
          {"energy_regret_mean", nullable(score.energy_regret_mean)},
          {"energy_regret_max", nullable(score.energy_regret_max)},
          {"best_mode_hit", nullable(score.best_mode_hit)}};
}

Json to_json(const ScoredRow& row) {
  const Observation& measured = row.observation;
  return {{"line", measured.line},
          {"source", measured.source},
          {"device", measured.device},
          {"mode", row.mode},
          {"point", to_json(measured.conditions.point)},
          {"locked", measured.conditions.locked},
          {"model", measured.network},
          {"options", measured.options},
          {"batch", measured.batch},
          {"dtype", to_string(measured.dtype)},
          {"runtime", to_string(measured.conditions.runtime)},
          {"task", to_string(measured.task)},
          {"measured_time_s", measured.time_s},
          {"time_s", to_json(row.forecast.time_s)},
          {"time_error", time_error(row)},
          {"measured_power_w", nullable(measured.power_w)},
          {"power_w", nullable(row.forecast.power_w)},
          {"measured_energy_j", nullable(row.energy_j())},
          {"energy_j", nullable(row.forecast.energy_j)},
          {"bound", to_string(row.forecast.bound)}};
}

Json to_json(const Ranking& ranking) {
  return {{"group", ranking.name},
          {"line", ranking.line},
          {"modes", ranking.modes},
          {"bound", to_string(ranking.bound)},
          {"kendall_tau", nullable(ranking.kendall_tau)},
          {"chosen", ranking.energy_regret ? Json(ranking.chosen) : Json()},
          {"best", ranking.energy_regret ? Json(ranking.best) : Json()},
          {"energy_regret", nullable(ranking.energy_regret)}};
}

Json to_json(const BoardOffset& offset) {
  return {{"source", offset.source},
          {"device", offset.device},
          {"power_w", offset.power_w},
          {"rows", offset.rows},
          {"from", offset.from_probes ? "probes" : "scored rows"}};
}

Json to_json(const SkippedRow& row) { return {{"line", row.line}, {"reason", row.reason}}; }

Json scores_to_json(const std::vector<std::pair<std::string, Score>>& scores) {
  Json json = Json::object();
  for (const auto& [value, score] : scores) json[value] = to_json(score);
  return json;
}

std::string cell(const std::optional<double>& value) { return value ? csv_number(*value) : ""; }

}  // namespace

Json to_json(const Validation& validation) {
  const ValidationOptions& options = validation.options;
  Json json = {
      {"schema", Validation::schema},
      {"file", validation.file},
      {"probes", options.probes},
      {"probe_modes", options.probe_modes},
      {"cross_validate", options.cross_validate.empty() ? Json() : Json(options.cross_validate)},
      {"where", validation.filter}};
  json.update(to_json(validation.total));
  json["probe_rows"] = validation.probes.size();
  json["replicates"] = {{"sets", validation.noise.sets},
                        {"time", nullable(validation.noise.time)},
                        {"power", nullable(validation.noise.power)}};
  json["board_offsets"] =
      array_of(validation.board_offsets, [](const BoardOffset& offset) { return to_json(offset); });
  json["notes"] = validation.notes;
  json["by"] = Json::object();
  for (const auto& [key, scores] : validation.by) json["by"][key] = scores_to_json(scores);
  json["skipped"] =
      array_of(validation.skipped, [](const SkippedRow& row) { return to_json(row); });
  json["rankings"] =
      array_of(validation.rankings, [](const Ranking& ranking) { return to_json(ranking); });
  json["worst"] = Json::array();
  for (const std::size_t i : worst_rows(validation, 10))
    json["worst"].push_back(validation.rows[i].observation.line);
  json["scored"] = array_of(validation.rows, [](const ScoredRow& row) { return to_json(row); });
  return json;
}

std::string validation_csv(const Validation& validation) {
  std::string csv = csv_row({"line",
                             "source",
                             "device",
                             "mode",
                             "model",
                             "options",
                             "batch",
                             "dtype",
                             "runtime",
                             "task",
                             "bound",
                             "measured_time_s",
                             "time_s",
                             "time_low_s",
                             "time_high_s",
                             "time_error",
                             "measured_power_w",
                             "power_w",
                             "power_low_w",
                             "power_high_w",
                             "measured_energy_j",
                             "energy_j"});
  for (const ScoredRow& row : validation.rows) {
    const Observation& measured = row.observation;
    const Forecast& predicted = row.forecast;
    const auto part = [](const std::optional<Estimate>& estimate, double Estimate::*member) {
      return estimate ? csv_number((*estimate).*member) : std::string();
    };
    csv += csv_row({std::to_string(measured.line),
                    measured.source,
                    measured.device,
                    row.mode,
                    measured.network,
                    measured.options,
                    std::to_string(measured.batch),
                    std::string(to_string(measured.dtype)),
                    std::string(to_string(measured.conditions.runtime)),
                    std::string(to_string(measured.task)),
                    std::string(to_string(predicted.bound)),
                    csv_number(measured.time_s),
                    csv_number(predicted.time_s.value),
                    csv_number(predicted.time_s.low),
                    csv_number(predicted.time_s.high),
                    csv_number(time_error(row)),
                    cell(measured.power_w),
                    part(predicted.power_w, &Estimate::value),
                    part(predicted.power_w, &Estimate::low),
                    part(predicted.power_w, &Estimate::high),
                    cell(row.energy_j()),
                    part(predicted.energy_j, &Estimate::value)});
  }
  return csv;
}

}  // namespace ridgeline
