// Refitting starts from a prior ten times wider than believed, so that a prior which was chosen
// with the held-out rows in view has next to no say.
#include "cli/validation_folds.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "cli/validation_offsets.h"

namespace ridgeline::cli {
namespace {

constexpr double widening = 10;

double variance_of(const MachineModel& model, std::size_t index) {
  return model.covariance[index * model.parameters.size() + index];
}

// One model has one offset, the rigs of a table have many: power goes into the fit without it.
void take_without_offset(const MachineModel& prior, Measurements rows, const Predictor& predictor,
                         std::vector<Measurement>& taken) {
  const EstimatedOffset offset = estimate_board_offset(prior, rows, predictor);
  for (const Measurement* row : rows) {
    taken.push_back(*row);
    if (!needs_board_offset(*row)) continue;
    const double power_w = *row->power_w - offset.power_w;
    taken.back().power_w = power_w > 0 ? std::optional(power_w) : std::nullopt;
  }
}

}  // namespace

MachineModel widened(MachineModel model, double factor) {
  for (double& element : model.covariance) element *= factor * factor;
  return model;
}

std::string Folds::name_of_fold(const Measurement& row) const {
  return held_out_ == "model" ? row.device + " without " + row.model : row.device;
}

const MachineModel& Folds::model_for(const Measurement& row) {
  const std::string name = name_of_fold(row);
  const auto known = models_.find(name);
  if (known != models_.end()) return known->second;
  MachineModel model = held_out_ == "model"    ? without_net(row.device, row.model)
                       : held_out_ == "device" ? without_device(row.device)
                                               : predictor_.prior(row.device);
  return models_.emplace(name, std::move(model)).first->second;
}

MachineModel Folds::fitted(const std::string& device, const std::string& without) {
  const MachineModel prior = predictor_.prior(device);
  std::map<std::string, std::vector<const Measurement*>> by_source;
  for (const Measurement& row : rows_)
    if (row.device == device && row.model != without) by_source[row.source].push_back(&row);
  if (by_source.empty())
    throw Error({}, fmt::format("no other net on {} to refit the priors with", device));
  std::vector<Measurement> rows;
  for (const auto& [source, own] : by_source) take_without_offset(prior, own, predictor_, rows);
  std::vector<const Measurement*> others;
  for (const Measurement& row : rows) others.push_back(&row);
  ++fits_;
  return predictor_.fit(widened(without_board_offset(prior), widening), others).model;
}

MachineModel Folds::without_net(const std::string& device, const std::string& model) {
  return fitted(device, model);
}

// Means of the shared parameters as the other devices teach them, each weighted by how well it
// knows; how far devices differ stays as it was believed.
MachineModel Folds::without_device(const std::string& device) {
  std::set<std::string> others;
  for (const Measurement& row : rows_)
    if (row.device != device) others.insert(row.device);
  if (others.empty()) throw Error({}, "no other device to refit the priors with");
  MachineModel model = predictor_.prior(device);
  std::vector<double> sum(model.parameters.size()), weight(model.parameters.size());
  for (const std::string& other : others) {
    if (!fitted_devices_.count(other)) fitted_devices_.emplace(other, fitted(other, {}));
    const MachineModel& teacher = fitted_devices_.at(other);
    for (std::size_t i = 0; i < model.parameters.size(); ++i) {
      if (!predictor_.is_shared(model.parameters[i])) continue;
      const auto same = find_parameter(teacher, model.parameters[i].name);
      if (!same) continue;
      const double mean = teacher.parameters[*same].mean, variance = variance_of(teacher, *same);
      if (!(mean > 0) || !(variance > 0)) continue;
      const double precision = mean * mean / variance;  // of the logarithm
      sum[i] += precision * std::log(mean);
      weight[i] += precision;
    }
  }
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    if (weight[i] > 0) model.parameters[i].mean = std::exp(sum[i] / weight[i]);
  return model;
}

}  // namespace ridgeline::cli
