// Refuses implausible rows, fits the others, lists the parameters that moved.
#include "validation/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "validation/plausibility.h"

namespace ridgeline {
namespace {

// Less than this is rounding.
constexpr double least_move = 1e-3;

// Notes the prior of each fitted parameter in the posterior; returns those that changed.
std::vector<MovedParameter> keep_priors(MachineModel& posterior, const MachineModel& prior) {
  std::vector<MovedParameter> moved;
  for (std::size_t i = 0; i < posterior.parameters.size(); ++i) {
    Parameter& parameter = posterior.parameters[i];
    const auto before = find_parameter(prior, parameter.name);
    if (!before) continue;
    const double sigma_before = sigma_of(prior, *before), sigma = sigma_of(posterior, i);
    if (!(sigma_before > 0)) continue;  // a fact
    const PriorValue belief{prior.parameters[*before].mean, sigma_before,
                            prior.parameters[*before].source};
    if (is_of_network(parameter)) continue;  // fits leave it alone
    parameter.prior = belief;
    MovedParameter row{parameter.name, belief, parameter.mean, sigma, parameter.source};
    if (row.sigmas() > least_move || sigma < sigma_before * (1 - least_move))
      moved.push_back(std::move(row));
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& a, const auto& b) { return a.sigmas() > b.sigmas(); });
  return moved;
}

// As in the model's file: without the place in a table, and without a kind of power if none was
// read.
Observation as_kept(Observation observation) {
  observation.line = 0;
  observation.source.clear();
  if (!observation.power_w) observation.conditions.power_kind = {};
  return observation;
}

Json moved_to_json(const MovedParameter& moved) {
  return {{"parameter", moved.name},
          {"prior_mean", moved.before.mean},
          {"prior_sigma", moved.before.sigma},
          {"prior_source", to_string(moved.before.source)},
          {"mean", moved.mean},
          {"sigma", moved.sigma},
          {"source", to_string(moved.source)}};
}

Json own_scales_to_json(const NetworkScales& own) {
  Json scales = Json::array();
  for (std::size_t i = 0; i < own.scales.size(); ++i)
    scales.push_back({{"parameter", own.scales[i].name},
                      {"mean", own.scales[i].mean},
                      {"sigma", sigma_of_scale(own, i)},
                      {"source", to_string(own.scales[i].source)}});
  return {{"network", own.network},
          {"options", own.options},
          {"task", to_string(own.task)},
          {"runtime", to_string(own.runtime)},
          {"scales", std::move(scales)}};
}

Json refused_to_json(const Observation& refused) {
  return {{"name", describe(refused)}, {"reason", refused.refused}};
}

}  // namespace

double MovedParameter::sigmas() const {
  return before.sigma > 0 ? std::abs(mean - before.mean) / before.sigma : 0;
}

Calibration calibrate(const MachineModel& model, const std::vector<Observation>& rows,
                      const Predictor& predictor) {
  const MachineModel prior = before_fit(model);
  std::vector<Observation> all;
  for (const Observation& earlier : model.observations)
    if (earlier.refused.empty()) all.push_back(earlier);
  all.insert(all.end(), rows.begin(), rows.end());

  Calibration result;
  std::vector<const Observation*> plausible;
  std::vector<std::size_t> places;  // of these in `all`
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Forecast forecast = predictor.forecast(prior, all[i], Detail::value);
    all[i].refused =
        check_plausibility(all[i], forecast, limits_for(all[i], prior, predictor)).reason;
    if (all[i].refused.empty()) {
      plausible.push_back(&all[i]);
      places.push_back(i);
    } else {
      result.refused.push_back(all[i]);
    }
  }
  if (plausible.empty())
    throw Error({}, all.empty() ? "no row was measured"
                                : "no row can be used: " + result.refused.front().refused);

  FitResult fitted = predictor.fit(prior, plausible);
  for (const auto& [i, reason] : fitted.refused) {
    all[places[i]].refused = reason;
    result.refused.push_back(all[places[i]]);
  }
  result.model = std::move(fitted.model);
  result.notes = std::move(fitted.notes);
  result.moved = keep_priors(result.model, prior);
  for (Observation& observation : all) {
    result.used += observation.refused.empty() ? 1 : 0;
    result.model.observations.push_back(as_kept(std::move(observation)));
  }
  if (result.used == 0)
    throw Error({}, "every row was rejected: " + result.refused.front().refused);
  return result;
}

Calibration calibrate(const MachineModel& model, const MachineModel& profiled) {
  const MachineModel prior = before_fit(model);
  Calibration result;
  result.model = prior;
  for (std::size_t i = 0; i < profiled.parameters.size(); ++i) {
    const double sigma = sigma_of(profiled, i);
    Parameter measured = profiled.parameters[i];
    if (const auto known = find_parameter(prior, measured.name)) {
      measured.prior = {prior.parameters[*known].mean, sigma_of(prior, *known),
                        prior.parameters[*known].source};
      if (measured.prior->mean != measured.mean)
        result.moved.push_back(
            {measured.name, *measured.prior, measured.mean, sigma, Source::measured});
    }
    set_parameter(result.model, measured, sigma);
    ++result.used;
  }
  return result;
}

Json to_json(const Calibration& calibration) {
  return {{"schema", "ridgeline.calibration/1"},
          {"device", calibration.model.device},
          {"used", calibration.used},
          {"moved", array_of(calibration.moved, moved_to_json)},
          {"networks", array_of(calibration.model.networks, own_scales_to_json)},
          {"refused", array_of(calibration.refused, refused_to_json)},
          {"notes", calibration.notes}};
}

}  // namespace ridgeline
