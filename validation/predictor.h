// Predictor: the model under test as a set of functions, handed to validate() and calibrate() so
// that their logic can be tested against a known truth. model_predictor() is the program's own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/estimate.h"
#include "base/machine_model.h"
#include "base/observation.h"
#include "base/prediction.h"
#include "roofline/model/fit.h"
#include "roofline/model/network_load.h"
#include "validation/measurement_table.h"
#include "validation/setting_draws.h"

namespace ridgeline {

// The totals of a Prediction.
struct Forecast {
  Estimate time_s;
  std::optional<Estimate> power_w;
  std::optional<Estimate> energy_j;
  BoundBy bound = BoundBy::memory;
};

// Values are enough to choose probes; intervals cost many draws.
enum class Detail { value, interval };

using Observations = std::span<const Observation* const>;

struct Predictor {
  std::function<MachineModel(const Observation&)> prior;  // equal for rows of one machine_key()
  std::function<Forecast(const MachineModel&, const Observation&, Detail)> forecast;
  // Joint draws of the run: see step_draws().
  std::function<StepDraws(const MachineModel&, const Observation&)> draws;
  std::function<FitResult(const MachineModel&, Observations)> fit;
  // The roofline's bound: no software is faster.
  std::function<double(const MachineModel&, const Observation&)> least_time_s;
  // Whether the prior is the same for every device, so that one device teaches another.
  std::function<bool(const Parameter&)> is_shared;
};

// Key of a prior: the device, plus the number of cores on CPUs.
std::string machine_key(const Observation& row);

// Networks as the model reads them. A table has the same network in many modes, and building it is
// what takes time, so each is built once.
class NetworkLoads {
 public:
  // Valid as long as this object. Training is one step with plain gradient descent.
  const NetworkLoad& of(const Observation& row);

 private:
  std::map<std::string, NetworkLoad> loads_;
};

// `devices` are those of the rows. CPUs are predicted from `cpu_profile`, the path of a profile;
// empty: the newest profile of this machine.
Predictor model_predictor(LoadedDevices devices, const std::string& cpu_profile = {},
                          const std::string& host_cpu = {});

// Predicts with this model instead of the priors. A row of another device has none: an Error says
// so.
Predictor with_model(Predictor predictor, MachineModel model);

}  // namespace ridgeline
