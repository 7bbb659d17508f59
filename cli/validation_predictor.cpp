// Binds the model's functions; networks are built once for all of them.
#include "cli/validation_predictor.h"

#include <algorithm>
#include <memory>

#include "cli/least_time.h"
#include "cli/measured_load.h"
#include "devices/catalog_model.h"
#include "devices/identification.h"
#include "roofline/ceilings_of.h"
#include "roofline/predict.h"
#include "roofline/priors.h"

namespace ridgeline::cli {
namespace {

Forecast forecast_of(const Prediction& prediction) {
  return {prediction.time_s, prediction.power_w, prediction.energy_j, prediction.bound};
}

// Believed of every device: the row of the priors that names none.
bool is_shared(const Parameter& parameter) {
  const auto rows = prior_rows();
  return std::any_of(rows.begin(), rows.end(), [&](const PriorRow& row) {
    return row.device.empty() && row.name == parameter.name && row.mean == parameter.mean;
  });
}

}  // namespace

Predictor model_predictor() {
  const auto loads = std::make_shared<MeasuredLoads>();
  Predictor predictor;
  predictor.prior = [](const std::string& device) {
    return with_priors(catalog::machine_model(named_device(device, {})));
  };
  predictor.forecast = [loads](const MachineModel& model, const Measurement& row, Detail detail) {
    PredictOptions options;
    options.rows = false;
    if (detail == Detail::value) options.draws = 0;
    return forecast_of(predict(model, loads->of(row), row.conditions, options));
  };
  predictor.fit = [loads](const MachineModel& prior, Measurements rows) {
    std::vector<Observation> observations;
    for (const Measurement* row : rows)
      observations.push_back(
          {name_of(*row), &loads->of(*row), row->conditions, row->time_s, row->power_w});
    return fit(prior, observations);
  };
  predictor.least_time_s = [loads](const MachineModel& model, const Measurement& row) {
    return least_time_s(ceilings_of(model, row.conditions.point), loads->of(row),
                        cache_bytes(model));
  };
  predictor.is_shared = is_shared;
  return predictor;
}

}  // namespace ridgeline::cli
