// A refit starts from a prior that is ten times wider, so that a prior which was chosen with the
// held-out rows in view hardly counts.
#include "validation/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parameters.h"
#include "roofline/model/fit.h"
#include "validation/board_offset.h"

namespace ridgeline {
namespace {

constexpr double widening = 10;

// A parameter that is this many times less certain without a network was taught by that network
// alone. Its relative sigma is then that of a kind of kernel that was never measured.
constexpr double untaught_ratio = 1.5;
constexpr double untaught_sigma = 0.35;

// Relative to the mean, because a refit moves the mean.
double relative_sigma(const MachineModel& model, std::size_t i) {
  const double mean = model.parameters[i].mean;
  return sigma_of(model, i) / (mean != 0 ? std::abs(mean) : 1);
}

// With `factor` times the standard deviations, so that rows outweigh the prior. Scales of what no
// row has taught were not chosen with any row in view.
MachineModel widened(MachineModel model, double factor) {
  const std::size_t n = model.parameters.size();
  const auto stays = [&](std::size_t i) {
    const Parameter& parameter = model.parameters[i];
    return is_of_network(parameter) || family_words(families::unfamiliar, parameter.name);
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!stays(i) && !stays(j)) model.covariance[i * n + j] *= factor * factor;
  return model;
}

// With the chosen parameters as facts, which a fit leaves alone.
MachineModel with_facts(MachineModel model, const std::vector<bool>& chosen) {
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (chosen[i] || chosen[j]) model.covariance[i * n + j] = 0;
  return model;
}

// With the variance that the chosen parameters had in the prior.
MachineModel with_prior_variance(MachineModel model, const std::vector<bool>& chosen,
                                 const MachineModel& prior) {
  const std::size_t n = model.parameters.size();
  for (std::size_t i = 0; i < n; ++i)
    if (chosen[i]) model.covariance[i * n + i] = prior.covariance[i * n + i];
  return model;
}

// A parameter that the rows did not teach is known no worse than in the prior. But if the fit to
// `all` rows knows it much better, the prior came from the held-out rows and is not trusted.
MachineModel with_limited_variance(MachineModel fitted, const MachineModel& prior,
                                   const MachineModel& all) {
  const std::size_t n = fitted.parameters.size();
  std::vector<double> scale(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double sigma = relative_sigma(fitted, i);
    if (sigma <= 0) continue;
    const bool untaught = sigma > untaught_ratio * relative_sigma(all, i);
    const double most = std::max(relative_sigma(prior, i), untaught ? untaught_sigma : 0);
    scale[i] = std::min(1.0, most / sigma);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) fitted.covariance[i * n + j] *= scale[i] * scale[j];
  return fitted;
}

}  // namespace

const MachineModel& MachinePriors::of(const Observation& row) {
  const std::string machine = machine_key(row);
  const auto known = priors_.find(machine);
  if (known != priors_.end()) return known->second;
  return priors_.emplace(machine, predictor_.prior(row)).first->second;
}

std::string Folds::fold_name(const Observation& row) const {
  const std::string machine = machine_key(row);
  return held_out_ == "model" ? machine + " without " + row.network : machine;
}

const MachineModel& Folds::model_for(const Observation& row) {
  if (held_out_.empty()) return priors_.of(row);
  const std::string name = fold_name(row);
  const auto known = models_.find(name);
  if (known != models_.end()) return known->second;
  MachineModel model =
      held_out_ == "model" ? refit_without_network(row, row.network) : refit_without_device(row);
  ++fits_;
  return models_.emplace(name, std::move(model)).first->second;
}

const MachineModel& Folds::wide_fit(const Observation& row, const std::string& without) {
  const std::string machine = machine_key(row);
  const auto known = wide_fits_.find({machine, without});
  if (known != wide_fits_.end()) return known->second;
  std::vector<const Observation*> others;
  for (const Observation& other : rows_)
    if (other.network != without && machine_key(other) == machine) others.push_back(&other);
  if (others.empty())
    throw Error({}, fmt::format("no other net on {} to refit the priors with", machine));
  const MachineModel& prior = priors_.of(row);
  const MachineModel start =
      with_facts(widened(prior, widening), untaught_parameters(machine, prior));
  // Limited below to what the prior knows, so nothing of it is added here.
  MachineModel fitted = as_fitted(predictor_.fit(start, others).model);
  fitted.networks.clear();  // a fold predicts networks that it was not fitted to
  return wide_fits_.emplace(std::pair(machine, without), std::move(fitted)).first->second;
}

MachineModel Folds::refit_without_network(const Observation& row, const std::string& network) {
  const MachineModel& prior = priors_.of(row);
  const MachineModel& fitted = wide_fit(row, network);
  const MachineModel& all = wide_fit(row, {});
  return with_prior_variance(with_limited_variance(fitted, prior, all),
                             untaught_parameters(machine_key(row), prior), prior);
}

const std::vector<bool>& Folds::untaught_parameters(const std::string& machine,
                                                    const MachineModel& model) {
  const auto known = untaught_.find(machine);
  if (known != untaught_.end()) return known->second;
  std::vector<std::pair<const Observation*, Forecast>> forecasts;
  for (const Observation& row : rows_)
    if (machine_key(row) == machine)
      forecasts.emplace_back(&row, predictor_.forecast(model, row, Detail::value));
  const auto moves_a_row = [&](std::size_t parameter, double factor) {
    MachineModel moved = model;
    double& mean = moved.parameters[parameter].mean;
    mean = mean != 0 ? mean * factor : factor;
    return std::any_of(forecasts.begin(), forecasts.end(), [&](const auto& row) {
      const Forecast now = predictor_.forecast(moved, *row.first, Detail::value);
      const Forecast& before = row.second;
      return now.time_s.value != before.time_s.value ||
             (now.power_w && before.power_w && now.power_w->value != before.power_w->value);
    });
  };
  std::vector<bool> untaught;
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    untaught.push_back(
        sigma_of(model, i) > 0 &&
        (is_of_rig(model.parameters[i]) || (!moves_a_row(i, 1.5) && !moves_a_row(i, 1 / 1.5))));
  return untaught_.emplace(machine, std::move(untaught)).first->second;
}

// Means of the shared parameters as the other devices teach them, each weighted by its precision;
// the spread between devices stays that of the prior.
MachineModel Folds::refit_without_device(const Observation& row) {
  std::map<std::string, const Observation*> others;
  for (const Observation& other : rows_)
    if (other.device != row.device) others.emplace(machine_key(other), &other);
  if (others.empty()) throw Error({}, "no other device to refit the priors with");
  MachineModel model = priors_.of(row);
  std::vector<double> sum(model.parameters.size()), weight(model.parameters.size());
  for (const auto& [machine, other] : others) {
    if (!teachers_.count(machine)) teachers_.emplace(machine, refit_without_network(*other, {}));
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
