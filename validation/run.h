// A table held against a model: rows are judged, probes fitted, the others predicted and scored.
// Who predicts is handed in, so that the logic can be tested against a truth that is known.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/machine_model.h"
#include "roofline/model/fit.h"
#include "validation/validation.h"

namespace ridgeline {

// Values alone are enough to choose probes; intervals cost many draws.
enum class Detail { value, interval };

using Measurements = std::span<const Observation* const>;

// The machine that one belief holds for: the device, and of a processor the cores that worked.
std::string machine_of(const Observation& row);

// What is believed of a device, what follows for a row, what rows teach.
struct Predictor {
  std::function<MachineModel(const Observation&)> prior;  // the same for all of machine_of
  std::function<Forecast(const MachineModel&, const Observation&, Detail)> forecast;
  std::function<FitResult(const MachineModel&, Measurements)> fit;
  // No run can be faster than this, whatever the software does.
  std::function<double(const MachineModel&, const Observation&)> least_time_s;
  // Whether a parameter is believed alike for every device: then one device teaches another.
  std::function<bool(const Parameter&)> is_shared;
};

// A table whose times are off by a unit as a whole is an Error; a row that contradicts the roof,
// or that the model cannot predict, is skipped with the reason.
Validation validate(MeasurementTable table, const Predictor& predictor,
                    const ValidationOptions& options);

}  // namespace ridgeline
