// Judge the rows, fit what is left, tell what moved.
#include "validation/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "validation/judgement.h"

namespace ridgeline {
namespace {

// Less than this is rounding.
constexpr double least_move = 1e-3;

// The fit's word on what it changed, with what was believed before.
std::vector<MovedParameter> keep_priors(MachineModel& posterior, const MachineModel& prior) {
  std::vector<MovedParameter> moved;
  for (std::size_t i = 0; i < posterior.parameters.size(); ++i) {
    Parameter& parameter = posterior.parameters[i];
    const auto before = find_parameter(prior, parameter.name);
    if (!before) continue;
    const double sigma_before = sigma_of(prior, *before), sigma = sigma_of(posterior, i);
    if (!(sigma_before > 0)) continue;  // a fact
    const PriorBelief belief{prior.parameters[*before].mean, sigma_before,
                             prior.parameters[*before].source};
    parameter.prior = belief;
    MovedParameter row{parameter.name, belief, parameter.mean, sigma, parameter.source};
    if (row.sigmas() > least_move || sigma < sigma_before * (1 - least_move))
      moved.push_back(std::move(row));
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& a, const auto& b) { return a.sigmas() > b.sigmas(); });
  return moved;
}

}  // namespace

double MovedParameter::sigmas() const {
  return before.sigma > 0 ? std::abs(mean - before.mean) / before.sigma : 0;
}

KeptObservation kept(const Measurement& row, std::string refused) {
  KeptObservation observation;
  observation.network = row.model;
  observation.options = row.options;
  observation.batch = row.batch();
  observation.dtype = parse_token<DType>(row.dtype).value_or(DType::fp32);
  observation.runtime = row.conditions.runtime;
  observation.task = to_string(row.task);
  observation.point = row.conditions.point;
  observation.locked = row.conditions.locked;
  observation.time_s = row.time_s;
  observation.power_w = row.power_w;
  if (row.power_w) observation.power_kind = to_string(row.conditions.power_kind);
  observation.refused = std::move(refused);
  return observation;
}

Measurement measurement_of(const KeptObservation& observation, const std::string& device) {
  Measurement row;
  row.device = device;
  row.model = observation.network;
  row.options = observation.options;
  row.dtype = to_string(observation.dtype);
  row.wanted = parse_options(observation.options);
  set_option(row.wanted, WorkloadOption::batch, std::to_string(observation.batch));
  set_option(row.wanted, WorkloadOption::dtype, row.dtype);
  row.task = parse_token<Task>(observation.task).value_or(Task::inference);
  row.conditions.point = observation.point;
  row.conditions.runtime = observation.runtime;
  row.conditions.locked = observation.locked;
  if (const auto kind = parse_token<PowerKind>(observation.power_kind))
    row.conditions.power_kind = *kind;
  row.time_s = observation.time_s;
  row.power_w = observation.power_w;
  return row;
}

Calibration calibrate(const MachineModel& model, const std::vector<Measurement>& rows,
                      const Predictor& predictor) {
  const MachineModel prior = before_fit(model);
  std::vector<Measurement> all;
  for (const KeptObservation& observation : model.observations)
    if (observation.refused.empty()) all.push_back(measurement_of(observation, model.device));
  all.insert(all.end(), rows.begin(), rows.end());

  Calibration result;
  std::vector<std::string> reasons(all.size());
  std::vector<const Measurement*> believed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Forecast forecast = predictor.forecast(prior, all[i], Detail::value);
    const Judgement judgement = judge(all[i], forecast, predictor.least_time_s(prior, all[i]));
    reasons[i] = judgement.reason;
    if (judgement.doubt == Doubt::none)
      believed.push_back(&all[i]);
    else
      result.refused.push_back({name_of(all[i]), judgement.reason});
  }
  if (believed.empty())
    throw Error({}, all.empty() ? "no row was measured"
                                : "no row can be used: " + result.refused.front().reason);

  FitResult fitted = predictor.fit(prior, believed);
  for (const RefusedObservation& refused : fitted.refused) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (reasons[i].empty() && name_of(all[i]) == refused.name) reasons[i] = refused.reason;
    result.refused.push_back(refused);
  }
  result.model = std::move(fitted.model);
  result.notes = std::move(fitted.notes);
  result.moved = keep_priors(result.model, prior);
  for (std::size_t i = 0; i < all.size(); ++i) {
    result.used += reasons[i].empty() ? 1 : 0;
    result.model.observations.push_back(kept(all[i], reasons[i]));
  }
  if (result.used == 0) throw Error({}, "every row was refused: " + result.refused.front().reason);
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

}  // namespace ridgeline
