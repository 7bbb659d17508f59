// Refitting starts from a prior ten times wider than believed, so that a prior which was chosen
// with the held-out rows in view has next to no say.
#include "validation/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "roofline/model/fit.h"
#include "validation/offsets.h"

namespace ridgeline {
namespace {

constexpr double widening = 10;

// A parameter that is this many times less certain without a net was taught by that net alone; as
// much is then believed of it as of a kind of kernel that nobody has measured.
constexpr double untaught = 1.5;
constexpr double unseen_doubt = 0.35;

// Of a value that moved, the same share of it.
double relative_sigma(const MachineModel& model, std::size_t i) {
  const double mean = model.parameters[i].mean;
  return sigma_of(model, i) / (mean != 0 ? std::abs(mean) : 1);
}

// One model has one offset, the rigs of a table have many: power goes into the fit without it.
void take_without_offset(const MachineModel& prior, Measurements rows, const Predictor& predictor,
                         std::vector<Observation>& taken) {
  const EstimatedOffset offset = estimate_board_offset(prior, rows, predictor);
  for (const Observation* row : rows) {
    taken.push_back(*row);
    if (!needs_board_offset(*row)) continue;
    const double power_w = *row->power_w - offset.power_w;
    taken.back().power_w = power_w > 0 ? std::optional(power_w) : std::nullopt;
  }
}

}  // namespace

MachineModel widened(MachineModel model, double factor) {
  const std::size_t n = model.parameters.size();
  const auto stays = [&](std::size_t i) { return is_of_network(model.parameters[i]); };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!stays(i) && !stays(j)) model.covariance[i * n + j] *= factor * factor;
  return model;
}

MachineModel held(MachineModel model, const std::vector<bool>& parameters) {
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (parameters[i] || parameters[j]) model.covariance[i * n + j] = 0;
  return model;
}

MachineModel released(MachineModel model, const std::vector<bool>& parameters,
                      const MachineModel& believed) {
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i)
    if (parameters[i]) model.covariance[i * n + i] = believed.covariance[i * n + i];
  return model;
}

MachineModel no_wider(MachineModel fitted, const MachineModel& believed, const MachineModel& all) {
  const std::size_t n = fitted.parameters.size();
  std::vector<double> scale(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double doubt = relative_sigma(fitted, i);
    if (doubt <= 0) continue;
    const bool unseen = doubt > untaught * relative_sigma(all, i);
    const double most = std::max(relative_sigma(believed, i), unseen ? unseen_doubt : 0);
    scale[i] = std::min(1.0, most / doubt);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) fitted.covariance[i * n + j] *= scale[i] * scale[j];
  return fitted;
}

std::string Folds::name_of_fold(const Observation& row) const {
  const std::string machine = machine_of(row);
  return held_out_ == "model" ? machine + " without " + row.network : machine;
}

const MachineModel& Folds::model_for(const Observation& row) {
  const std::string name = name_of_fold(row);
  const auto known = models_.find(name);
  if (known != models_.end()) return known->second;
  MachineModel model = held_out_ == "model"    ? fitted(row, row.network)
                       : held_out_ == "device" ? without_device(row)
                                               : predictor_.prior(row);
  if (!held_out_.empty()) ++fits_;
  return models_.emplace(name, std::move(model)).first->second;
}

const MachineModel& Folds::fit_alone(const Observation& of, const std::string& without) {
  const std::string machine = machine_of(of);
  const auto known = alone_.find({machine, without});
  if (known != alone_.end()) return known->second;
  const MachineModel prior = predictor_.prior(of);
  std::map<std::string, std::vector<const Observation*>> by_source;
  for (const Observation& row : rows_)
    if (row.network != without && machine_of(row) == machine) by_source[row.source].push_back(&row);
  if (by_source.empty())
    throw Error({}, fmt::format("no other net on {} to refit the priors with", machine));
  std::vector<Observation> rows;
  for (const auto& [source, own] : by_source) take_without_offset(prior, own, predictor_, rows);
  std::vector<const Observation*> others;
  for (const Observation& row : rows) others.push_back(&row);
  const MachineModel believed = without_board_offset(prior);
  const MachineModel start = held(widened(believed, widening), idle_parameters(machine, believed));
  return alone_.emplace(std::pair(machine, without), predictor_.fit(start, others).model)
      .first->second;
}

MachineModel Folds::fitted(const Observation& of, const std::string& without) {
  const MachineModel believed = without_board_offset(predictor_.prior(of));
  const MachineModel& model = fit_alone(of, without);
  const MachineModel& all = fit_alone(of, {});
  return released(no_wider(model, believed, all), idle_parameters(machine_of(of), believed),
                  believed);
}

const std::vector<bool>& Folds::idle_parameters(const std::string& machine,
                                                const MachineModel& model) {
  const auto known = idle_.find(machine);
  if (known != idle_.end()) return known->second;
  std::vector<std::pair<const Observation*, Forecast>> as_believed;
  for (const Observation& row : rows_)
    if (machine_of(row) == machine)
      as_believed.emplace_back(&row, predictor_.forecast(model, row, Detail::value));
  const auto moves_a_row = [&](std::size_t parameter, double factor) {
    MachineModel moved = model;
    double& mean = moved.parameters[parameter].mean;
    mean = mean != 0 ? mean * factor : factor;
    return std::any_of(as_believed.begin(), as_believed.end(), [&](const auto& row) {
      const Forecast now = predictor_.forecast(moved, *row.first, Detail::value);
      const Forecast& before = row.second;
      return now.time_s.value != before.time_s.value ||
             (now.power_w && before.power_w && now.power_w->value != before.power_w->value);
    });
  };
  std::vector<bool> idle;
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    idle.push_back(sigma_of(model, i) > 0 && !moves_a_row(i, 1.5) && !moves_a_row(i, 1 / 1.5));
  return idle_.emplace(machine, std::move(idle)).first->second;
}

// Means of the shared parameters as the other devices teach them, each weighted by how well it
// knows; how far devices differ stays as it was believed.
MachineModel Folds::without_device(const Observation& of) {
  std::map<std::string, const Observation*> others;
  for (const Observation& row : rows_)
    if (row.device != of.device) others.emplace(machine_of(row), &row);
  if (others.empty()) throw Error({}, "no other device to refit the priors with");
  MachineModel model = predictor_.prior(of);
  std::vector<double> sum(model.parameters.size()), weight(model.parameters.size());
  for (const auto& [machine, row] : others) {
    if (!teachers_.count(machine)) teachers_.emplace(machine, fitted(*row, {}));
    const MachineModel& teacher = teachers_.at(machine);
    for (std::size_t i = 0; i < model.parameters.size(); ++i) {
      if (!predictor_.is_shared(model.parameters[i])) continue;
      const auto same = find_parameter(teacher, model.parameters[i].name);
      if (!same) continue;
      const double mean = teacher.parameters[*same].mean, sigma = sigma_of(teacher, *same);
      if (!(mean > 0) || !(sigma > 0)) continue;
      const double precision = mean * mean / (sigma * sigma);  // of the logarithm
      sum[i] += precision * std::log(mean);
      weight[i] += precision;
    }
  }
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (weight[i] > 0) model.parameters[i].mean = std::exp(sum[i] / weight[i]);
  return model;
}

}  // namespace ridgeline
