// In this order: judge the rows, plan the probes, refit where asked, predict, score.
#include "validation/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "validation/folds.h"
#include "validation/judgement.h"
#include "validation/offsets.h"
#include "validation/probes.h"
#include "validation/score.h"

namespace ridgeline {
namespace {

class Run {
 public:
  Run(MeasurementTable table, const Predictor& predictor, const ValidationOptions& options)
      : predictor_(predictor), options_(options) {
    result_.file = table.file;
    result_.options = options;
    result_.skipped = std::move(table.skipped);
    judge_rows(std::move(table.rows));
  }

  Validation run() {
    const std::vector<std::string> modes = mode_names(rows_);
    result_.noise = replicate_noise(rows_, modes);
    plan_ = plan_probes(rows_, modes, times_, options_);
    skip(plan_.skipped);
    Folds folds(rows_, predictor_, options_.cross_validate);
    for (const ProbeTrial& trial : plan_.trials) {
      predict_trial(trial, folds, modes);
    }
    tell_offsets();
    tell_folds(folds);
    if (refused_ > 0)
      result_.notes.push_back(fmt::format("{} probes were refused as outliers", refused_));
    score();
    return std::move(result_);
  }

 private:
  void skip(const std::vector<SkippedRow>& rows) {
    result_.skipped.insert(result_.skipped.end(), rows.begin(), rows.end());
  }

  // Rows that the model can predict and that can be true; times as predicted without probes.
  void judge_rows(std::vector<Observation> rows) {
    std::map<std::string, MachineModel> priors;
    int suspected = 0;
    std::optional<SkippedRow> first_suspicion;
    for (Observation& row : rows) {
      try {
        const std::string machine = machine_of(row);
        if (!priors.count(machine)) priors.emplace(machine, predictor_.prior(row));
        const MachineModel& prior = priors.at(machine);
        const Forecast forecast = predictor_.forecast(prior, row, Detail::value);
        Judgement judgement = judge(row, forecast, predictor_.least_time_s(prior, row));
        if (judgement.doubt == Doubt::none) {
          times_.push_back(forecast.time_s.value);
          rows_.push_back(std::move(row));
          continue;
        }
        if (judgement.doubt == Doubt::wrong_unit && suspected++ == 0)
          first_suspicion = {row.line, judgement.reason};
        result_.skipped.push_back({row.line, std::move(judgement.reason)});
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

  std::vector<const Observation*> at(const Indices& indices) const {
    std::vector<const Observation*> rows;
    for (const std::size_t i : indices) rows.push_back(&rows_[i]);
    return rows;
  }

  // The rows of a source that may tell its rig's power: its probes, or all where nothing is
  // probed.
  std::vector<const Observation*> offset_rows(const Observation& of) const {
    std::vector<const Observation*> rows;
    const auto collect = [&](const Indices& indices) {
      for (const std::size_t i : indices)
        if (rows_[i].source == of.source && rows_[i].device == of.device &&
            rows_[i].conditions.power_kind == of.conditions.power_kind)
          rows.push_back(&rows_[i]);
    };
    for (const ProbeTrial& trial : plan_.trials)
      collect(has_probes() ? trial.probes : trial.scored);
    return rows;
  }

  bool has_probes() const { return options_.probes > 0 || !options_.probe_modes.empty(); }

  // The model of a fold with the offset of a rig, made once.
  const MachineModel& model_of(const Observation& row, Folds& folds) {
    const MachineModel& bare = folds.model_for(row);
    if (row.conditions.power_kind == PowerKind::board) return bare;
    const std::string name = fmt::format("{}\n{}\n{}", folds.name_of_fold(row), row.source,
                                         to_string(row.conditions.power_kind));
    const auto known = with_offset_.find(name);
    if (known != with_offset_.end()) return known->second;
    const EstimatedOffset offset = estimate_board_offset(bare, offset_rows(row), predictor_);
    if (offset.rows > 0) offsets_[{row.source, row.device}].push_back(offset);
    return with_offset_.emplace(name, offset.rows > 0 ? with_board_offset(bare, offset) : bare)
        .first->second;
  }

  void predict_trial(const ProbeTrial& trial, Folds& folds, const std::vector<std::string>& modes) {
    const Observation& first = rows_[trial.scored.front()];
    try {
      const MachineModel& prior = model_of(first, folds);
      std::optional<FitResult> fit;
      if (!trial.probes.empty()) {
        fit = predictor_.fit(prior, at(trial.probes));
        refused_ += static_cast<int>(fit->refused.size());
      }
      const auto predict = [&](std::size_t i, bool probed) {
        return ScoredRow{rows_[i], modes[i],
                         predictor_.forecast(fit ? fit->model : prior, rows_[i],
                                             probed ? Detail::value : Detail::interval),
                         probed};
      };
      for (const std::size_t i : trial.scored) result_.rows.push_back(predict(i, false));
      for (const std::size_t i : trial.probes) result_.probes.push_back(predict(i, true));
    } catch (const Error& error) {
      for (const std::size_t i : trial.scored)
        result_.skipped.push_back({rows_[i].line, error.what()});
    }
  }

  void tell_offsets() {
    for (const auto& [rig, offsets] : offsets_) {
      BoardOffset told{rig.first, rig.second, 0, offsets.front().rows, has_probes()};
      for (const EstimatedOffset& offset : offsets)
        told.power_w += offset.power_w / static_cast<double>(offsets.size());
      result_.board_offsets.push_back(std::move(told));
    }
  }

  void tell_folds(const Folds& folds) {
    if (options_.cross_validate.empty()) {
      result_.notes.emplace_back(
          "priors as they are: rows that they were fitted on are scored too "
          "(--cross-validate model leaves them out)");
      return;
    }
    result_.notes.push_back(
        fmt::format("priors refitted {} times, each without the {} that is scored", folds.fits(),
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
    result_.total = score_of(all);
    result_.rankings = rank_groups(all);
    for (const std::string_view key : score_keys())
      result_.by.emplace_back(key, score_by(key, all));
  }

  const Predictor& predictor_;
  const ValidationOptions& options_;
  std::vector<Observation> rows_;
  std::vector<double> times_;
  ProbePlan plan_;
  std::map<std::string, MachineModel> with_offset_;
  std::map<std::pair<std::string, std::string>, std::vector<EstimatedOffset>> offsets_;
  int refused_ = 0;
  Validation result_;
};

}  // namespace

std::string machine_of(const Observation& row) {
  const OperatingPoint& point = row.conditions.point;
  if (point.gpu_units || point.gpu_hz || !point.cpu_cores) return row.device;
  return fmt::format("{} with {} cores", row.device, *point.cpu_cores);
}

Validation validate(MeasurementTable table, const Predictor& predictor,
                    const ValidationOptions& options) {
  return Run(std::move(table), predictor, options).run();
}

}  // namespace ridgeline
