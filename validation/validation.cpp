// In this order: skip implausible rows, choose probes, refit, predict, score. JSON has null for
// numbers that are absent.
#include "validation/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "validation/board_offset.h"
#include "validation/folds.h"
#include "validation/plausibility.h"
#include "validation/probes.h"

namespace ridgeline {
namespace {

bool is_used(const Observation& kept) { return kept.refused.empty(); }

// Values go through a table and a model's file, which may round them.
bool is_same_value(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

// Whether a kept observation is this row, whatever its mode is called and whatever its source.
bool is_same_run(const Observation& kept, const Observation& row) {
  OperatingPoint a = kept.conditions.point, b = row.conditions.point;
  a.label = b.label = "";
  return a == b && kept.network == row.network && kept.options == row.options &&
         kept.batch == row.batch && kept.dtype == row.dtype && kept.task == row.task &&
         kept.conditions.runtime == row.conditions.runtime &&
         kept.conditions.locked == row.conditions.locked &&
         is_same_value(kept.time_s, row.time_s) &&
         kept.power_w.has_value() == row.power_w.has_value() &&
         (!kept.power_w || is_same_value(*kept.power_w, *row.power_w));
}

class Validator {
 public:
  Validator(MeasurementTable table, const Predictor& predictor, const ValidationOptions& options)
      : predictor_(predictor), options_(options), priors_(predictor) {
    result_.file = table.file;
    result_.options = options;
    result_.skipped = std::move(table.skipped);
    take_plausible(std::move(table.rows));
  }

  Validation run() {
    const std::vector<std::string> modes = mode_names(rows_);
    result_.noise = replicate_noise(rows_, modes);
    chosen_ = choose_probes(rows_, modes, times_s_, options_);
    result_.skipped.insert(result_.skipped.end(), chosen_.skipped.begin(), chosen_.skipped.end());
    Folds folds(rows_, priors_, predictor_, options_.cross_validate);
    for (const ProbeTrial& trial : chosen_.trials) predict_trial(trial, folds, modes);
    predict_fitted();
    report_offsets();
    note_refits(folds.fits());
    if (refused_ > 0)
      result_.notes.push_back(fmt::format("{} probes were rejected as outliers", refused_));
    score();
    return std::move(result_);
  }

 private:
  // Rows that the model can predict and that can be true, with their times as predicted without
  // probes.
  void take_plausible(std::vector<Observation> rows) {
    int suspected = 0;
    std::optional<SkippedRow> first_suspicion;
    for (Observation& row : rows) {
      try {
        const MachineModel& prior = priors_.of(row);
        const Forecast forecast = predictor_.forecast(prior, row, Detail::value);
        Plausibility checked =
            check_plausibility(row, forecast, limits_for(row, prior, predictor_));
        if (checked.fault == Fault::none && is_fitted(row)) {
          fitted_.push_back(std::move(row));
          continue;
        }
        if (checked.fault == Fault::none) {
          times_s_.push_back(forecast.time_s.value);
          rows_.push_back(std::move(row));
          continue;
        }
        if (checked.fault == Fault::wrong_unit && suspected++ == 0)
          first_suspicion = {row.line, checked.reason};
        result_.skipped.push_back({row.line, std::move(checked.reason)});
      } catch (const Error& error) {
        result_.skipped.push_back({row.line, error.what()});
      }
    }
    // One such row is a slip of the pen, most of them are a column in another unit.
    if (first_suspicion && 2 * suspected > static_cast<int>(rows.size()))
      throw Error(fmt::format("{}:{}", result_.file, first_suspicion->line),
                  first_suspicion->reason,
                  fmt::format("{} of {} rows look so", suspected, rows.size()));
  }

  bool is_fitted(const Observation& row) const {
    if (!options_.on) return false;
    const auto& kept = options_.on->model.observations;
    return std::any_of(kept.begin(), kept.end(), [&](const Observation& observation) {
      return is_used(observation) && is_same_run(observation, row);
    });
  }

  // Rows that the model knows, beside the score: how well the fit followed them.
  void predict_fitted() {
    const std::vector<std::string> modes = mode_names(fitted_);
    std::vector<const ScoredRow*> all;
    for (std::size_t i = 0; i < fitted_.size(); ++i)
      result_.fitted.push_back(
          {fitted_[i], modes[i],
           predictor_.forecast(options_.on->model, fitted_[i], Detail::interval), false});
    for (const ScoredRow& row : result_.fitted) all.push_back(&row);
    result_.fitted_total = score_rows(all);
    for (ScoredRow& row : result_.fitted) row.probed = true;
  }

  std::vector<const Observation*> at(const Indices& indices) const {
    std::vector<const Observation*> rows;
    for (const std::size_t i : indices) rows.push_back(&rows_[i]);
    return rows;
  }

  std::vector<const Observation*> probes_of_rig(const Observation& row) const {
    std::vector<const Observation*> probes;
    for (const ProbeTrial& trial : chosen_.trials)
      for (const std::size_t i : trial.probes)
        if (rows_[i].source == row.source && rows_[i].device == row.device &&
            rows_[i].conditions.power_kind == row.conditions.power_kind)
          probes.push_back(&rows_[i]);
    return probes;
  }

  // The model of a fold; if the row's rig was probed, with its offset, made once.
  const MachineModel& model_for(const Observation& row, Folds& folds) {
    const MachineModel& prior = folds.model_for(row);
    if (row.conditions.power_kind == PowerKind::board) return prior;
    // A fitted model knows the offset of its rig.
    if (options_.on && options_.on->fitted_to() > 0) return prior;
    const std::string name = fmt::format("{}\n{}\n{}", folds.fold_name(row), row.source,
                                         to_string(row.conditions.power_kind));
    const auto known = with_offset_.find(name);
    if (known != with_offset_.end()) return known->second;
    const EstimatedOffset offset = estimate_board_offset(prior, probes_of_rig(row), predictor_);
    if (offset.rows > 0) offsets_[{row.source, row.device}].push_back(offset);
    return with_offset_.emplace(name, offset.rows > 0 ? with_board_offset(prior, offset) : prior)
        .first->second;
  }

  void predict_trial(const ProbeTrial& trial, Folds& folds, const std::vector<std::string>& modes) {
    const Observation& first = rows_[trial.scored.front()];
    try {
      const MachineModel& prior = model_for(first, folds);
      std::optional<FitResult> fit;
      if (!trial.probes.empty()) {
        fit = predictor_.fit(prior, at(trial.probes));
        refused_ += static_cast<int>(fit->refused.size());
      }
      const auto predict = [&](std::size_t i, bool probed) {
        const MachineModel& model = fit ? fit->model : prior;
        ScoredRow row{
            rows_[i], modes[i],
            predictor_.forecast(model, rows_[i], probed ? Detail::value : Detail::interval),
            probed};
        if (const Observation asked = as_asked(rows_[i]); asked != rows_[i])
          row.as_asked = predictor_.forecast(model, asked, Detail::value);
        return row;
      };
      for (const std::size_t i : trial.scored) result_.rows.push_back(predict(i, false));
      for (const std::size_t i : trial.probes) result_.probes.push_back(predict(i, true));
    } catch (const Error& error) {
      for (const std::size_t i : trial.scored)
        result_.skipped.push_back({rows_[i].line, error.what()});
    }
  }

  // A rig has one offset per fold; the mean is reported.
  void report_offsets() {
    for (const auto& [rig, offsets] : offsets_) {
      BoardOffset mean{rig.first, rig.second, 0, offsets.front().rows};
      for (const EstimatedOffset& offset : offsets)
        mean.power_w += offset.power_w / static_cast<double>(offsets.size());
      result_.board_offsets.push_back(std::move(mean));
    }
  }

  void note_refits(int refits) {
    if (options_.on) {
      const std::size_t rows = options_.on->fitted_to();
      result_.notes.push_back(
          rows == 0 ? fmt::format("predicted with the model of {}", options_.on->name)
                    : fmt::format("predicted with {}, a model of {} that was fitted to {} row{}",
                                  options_.on->name, options_.on->model.device, rows,
                                  rows == 1 ? "" : "s"));
      if (rows == 0) return;
      const Score& known = result_.fitted_total;
      result_.notes.push_back(
          known.rows == 0
              ? "none of these rows is in the table"
              : fmt::format(
                    "{} of these rows {} in the table and not scored (MAPE of time {:.1f} % "
                    "there)",
                    known.rows, known.rows == 1 ? "is" : "are", *known.time_mape * 100));
      return;
    }
    if (options_.cross_validate.empty()) {
      result_.notes.emplace_back(
          "priors as they are: rows that they were fitted on are scored too "
          "(--cross-validate model leaves them out)");
      return;
    }
    result_.notes.push_back(
        fmt::format("priors refitted {} times, each without the {} that is scored", refits,
                    options_.cross_validate == "model" ? "net" : "device"));
  }

  void score() {
    const auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
    std::stable_sort(result_.skipped.begin(), result_.skipped.end(), by_line);
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [&](const ScoredRow& a, const ScoredRow& b) {
                       return by_line(a.observation, b.observation);
                     });
    std::vector<const ScoredRow*> all;
    for (const ScoredRow& row : result_.rows) all.push_back(&row);
    for (const ScoredRow& row : result_.probes) all.push_back(&row);
    for (const ScoredRow& row : result_.fitted) all.push_back(&row);
    result_.rankings = rank_groups(all);
    result_.total = score_rows(all, result_.rankings);
    for (const std::string_view key : score_keys())
      result_.by.emplace_back(key, score_by(key, all));
  }

  const Predictor& predictor_;
  const ValidationOptions& options_;
  MachinePriors priors_;
  std::vector<Observation> rows_;
  std::vector<Observation> fitted_;  // that options_.on was fitted to
  std::vector<double> times_s_;      // predicted
  ChosenProbes chosen_;
  std::map<std::string, MachineModel> with_offset_;
  std::map<std::pair<std::string, std::string>, std::vector<EstimatedOffset>> offsets_;
  int refused_ = 0;
  Validation result_;
};

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
          {"power_half_width", nullable(score.power_half_width)},
          {"energy_mape", nullable(score.energy_mape)},
          {"energy_bias", nullable(score.energy_bias)},
          {"energy_coverage", nullable(score.energy_coverage)},
          {"energy_half_width", nullable(score.energy_half_width)},
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
          {"probes", offset.probes}};
}

Json to_json(const ScoredModel& on) {
  return {{"name", on.name}, {"device", on.model.device}, {"fitted_to", on.fitted_to()}};
}

Json to_json(const SkippedRow& row) { return {{"line", row.line}, {"reason", row.reason}}; }

Json scores_to_json(const std::vector<std::pair<std::string, Score>>& scores) {
  Json json = Json::object();
  for (const auto& [value, score] : scores) json[value] = to_json(score);
  return json;
}

}  // namespace

std::size_t ScoredModel::fitted_to() const {
  return static_cast<std::size_t>(
      std::count_if(model.observations.begin(), model.observations.end(), is_used));
}

Validation validate(MeasurementTable table, const Predictor& predictor,
                    const ValidationOptions& options) {
  return Validator(std::move(table), predictor, options).run();
}

std::vector<std::size_t> worst_rows(const Validation& validation, std::size_t count) {
  std::vector<std::size_t> order(validation.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(time_error(validation.rows[a])) > std::abs(time_error(validation.rows[b]));
  });
  order.resize(std::min(order.size(), count));
  return order;
}

Json to_json(const Validation& validation) {
  const ValidationOptions& options = validation.options;
  Json json = {
      {"schema", Validation::schema},
      {"file", validation.file},
      {"probes", options.probes},
      {"probe_modes", options.probe_modes},
      {"cross_validate", options.cross_validate.empty() ? Json() : Json(options.cross_validate)},
      {"on", options.on ? to_json(*options.on) : Json()},
      {"where", validation.filter}};
  json.update(to_json(validation.total));
  json["probe_rows"] = validation.probes.size();
  json["fitted"] = {
      {"time_mape", nullable(validation.fitted_total.time_mape)},
      {"rows", array_of(validation.fitted, [](const ScoredRow& row) { return to_json(row); })}};
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

}  // namespace ridgeline
