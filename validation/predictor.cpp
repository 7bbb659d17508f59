// Binds the model's functions; networks are built once for all of them.
#include "validation/predictor.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "devices/catalog/model.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/model/predict.h"
#include "roofline/model/priors.h"
#include "roofline/model/profile_model.h"
#include "validation/measured_load.h"

namespace ridgeline {
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

// Processors by their number of cores that work, from one profile that is read when asked for.
class ProfiledCores {
 public:
  explicit ProfiledCores(std::string path) : path_(std::move(path)) {}

  const ProfiledMachine& with(int cores) {
    if (!profile_) {
      const std::string path = path_.empty() ? require_newest_cpu_profile() : path_;
      const Json json = read_json_file(path);
      profile_ = profile_from_json(file_cursor(json, path));
    }
    const auto known = machines_.find(cores);
    if (known != machines_.end()) return known->second;
    return machines_.emplace(cores, profiled_machine(*profile_, profile_->modes.front(), cores))
        .first->second;
  }

 private:
  std::string path_;
  std::optional<Profile> profile_;
  std::map<int, ProfiledMachine> machines_;
};

// A device of the catalog, or this machine as its profile has it.
class Machines {
 public:
  explicit Machines(std::string profile) : profiled_(std::move(profile)) {}

  MachineModel prior(const Observation& row) {
    if (is_processor(row.device))
      return with_priors(profiled_.with(row.conditions.point.cpu_cores.value_or(0)).model);
    return with_priors(catalog::machine_model(catalog::load(row.device)));
  }

  // With the clock that the profile was measured at, where the row states none.
  Conditions conditions(const Observation& row) {
    Conditions conditions = row.conditions;
    if (!is_processor(row.device)) return conditions;
    OperatingPoint& point = conditions.point;
    const OperatingPoint& measured = profiled_.with(point.cpu_cores.value_or(0)).point;
    if (point.cpu_hz.empty()) point.cpu_hz = measured.cpu_hz;
    if (!point.cpu_cores) point.cpu_cores = measured.cpu_cores;
    return conditions;
  }

 private:
  bool is_processor(const std::string& device) {
    const auto known = is_processor_.find(device);
    if (known != is_processor_.end()) return known->second;
    const bool is = catalog::find(device) && catalog::load(device).kind == catalog::Kind::cpu;
    return is_processor_.emplace(device, is).first->second;
  }

  ProfiledCores profiled_;
  std::map<std::string, bool> is_processor_;
};

}  // namespace

Predictor model_predictor(const std::string& profile) {
  const auto loads = std::make_shared<MeasuredLoads>();
  const auto machines = std::make_shared<Machines>(profile);
  Predictor predictor;
  predictor.prior = [machines](const Observation& row) { return machines->prior(row); };
  predictor.forecast = [=](const MachineModel& model, const Observation& row, Detail detail) {
    PredictOptions options;
    options.rows = RowDetail::none;
    if (detail == Detail::value) options.draws = 0;
    return forecast_of(predict(model, loads->of(row), machines->conditions(row), options));
  };
  predictor.fit = [=](const MachineModel& prior, Measurements rows) {
    std::vector<Observation> observations;
    std::vector<const NetworkLoad*> networks;
    for (const Observation* row : rows) {
      observations.push_back(*row);
      observations.back().conditions = machines->conditions(*row);
      networks.push_back(&loads->of(*row));
    }
    return fit(prior, observations, networks);
  };
  predictor.least_time_s = [=](const MachineModel& model, const Observation& row) {
    const Ceilings ceilings =
        model_ceilings(model, machines->conditions(row).point, row.conditions.runtime);
    return ApplicableCeilings(ceilings).least_time_s(loads->of(row), cache_bytes(model));
  };
  predictor.is_shared = is_shared;
  return predictor;
}

}  // namespace ridgeline
