// Binds the functions of roofline/model. Networks, devices and the profile are read once for all.
#include "validation/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/lowering/lowering.h"
#include "analyzer/training/training.h"
#include "base/error.h"
#include "base/profile.h"
#include "base/profile_store.h"
#include "devices/catalog/model.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/model/host_cpu.h"
#include "roofline/model/predict.h"
#include "roofline/model/priors.h"
#include "roofline/model/profile_model.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

WorkloadOptions workload_options(const Observation& row) {
  WorkloadOptions options = parse_options(row.options);
  set_option(options, WorkloadOption::batch, std::to_string(row.batch));
  set_option(options, WorkloadOption::dtype, to_string(row.dtype));
  return options;
}

// The row with its options in full: one network may be written in several ways.
Observation with_full_options(Observation row) {
  row.options = full_options(workload_named(row.network), parse_options(row.options));
  return row;
}

// Its prior is a row that names no device.
bool is_shared(const Parameter& parameter) {
  const auto rows = prior_rows();
  return std::any_of(rows.begin(), rows.end(), [&](const PriorRow& row) {
    return row.device.empty() && row.name == parameter.name && row.mean == parameter.mean;
  });
}

// A CPU with some of its cores at work, from one profile that is read when first needed.
class ProfiledCpu {
 public:
  explicit ProfiledCpu(std::string path) : path_(std::move(path)) {}

  const ProfiledMachine& with(int cores) {
    if (!profile_) profile_ = load_profile(path_.empty() ? require_newest_cpu_profile() : path_);
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

// Where a row ran: a device of the catalog, or a CPU with its profile.
class Machines {
 public:
  Machines(LoadedDevices devices, std::string cpu_profile, std::string host_cpu)
      : devices_(std::move(devices)),
        profiled_(std::move(cpu_profile)),
        host_cpu_(std::move(host_cpu)) {}

  MachineModel prior(const Observation& row) {
    if (is_cpu(row.device))
      return with_priors(profiled_.with(row.conditions.point.cpu_cores.value_or(0)).model);
    const catalog::Device& device = devices_.at(row.device);
    MachineModel model = with_priors(catalog::machine_model(device));
    if (!host_cpu_.empty() && device.kind == catalog::Kind::gpu) set_host_cpu(model, host_cpu_);
    return model;
  }

  // A CPU runs at the clock of the profile unless the row states one.
  Conditions conditions(const Observation& row) {
    Conditions conditions = row.conditions;
    if (!is_cpu(row.device)) return conditions;
    OperatingPoint& point = conditions.point;
    const OperatingPoint& measured = profiled_.with(point.cpu_cores.value_or(0)).point;
    if (point.cpu_hz.empty()) point.cpu_hz = measured.cpu_hz;
    if (!point.cpu_cores) point.cpu_cores = measured.cpu_cores;
    return conditions;
  }

 private:
  bool is_cpu(const std::string& device) const {
    const auto found = devices_.find(device);
    return found != devices_.end() && found->second.kind == catalog::Kind::cpu;
  }

  LoadedDevices devices_;
  ProfiledCpu profiled_;
  std::string host_cpu_;
};

}  // namespace

std::string machine_key(const Observation& row) {
  const OperatingPoint& point = row.conditions.point;
  if (point.gpu_units || point.gpu_hz || !point.cpu_cores) return row.device;
  return fmt::format("{} with {} cores", row.device, *point.cpu_cores);
}

const NetworkLoad& NetworkLoads::of(const Observation& row) {
  const Runtime runtime = row.conditions.runtime;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", row.network, row.options, row.batch,
                  to_string(row.dtype), to_string(runtime), to_string(row.task));
  const auto known = loads_.find(key);
  if (known != loads_.end()) return known->second;
  const Workload workload = workload_named(row.network);
  Graph graph = build_workload(workload, resolve(workload, workload_options(row)));
  graph = row.task == Task::training ? train(graph, {}).graph : as_run(workload, std::move(graph));
  return loads_.emplace(key, network_load(lower(graph, runtime), runtime)).first->second;
}

Predictor model_predictor(LoadedDevices devices, const std::string& cpu_profile,
                          const std::string& host_cpu) {
  const auto loads = std::make_shared<NetworkLoads>();
  const auto machines = std::make_shared<Machines>(std::move(devices), cpu_profile, host_cpu);
  Predictor predictor;
  predictor.prior = [machines](const Observation& row) { return machines->prior(row); };
  predictor.forecast = [=](const MachineModel& model, const Observation& row, Detail detail) {
    PredictOptions options;
    options.rows = RowDetail::none;
    if (detail == Detail::value) options.draws = 0;
    const Prediction prediction = predict(for_network(model, with_full_options(row)),
                                          loads->of(row), machines->conditions(row), options);
    return Forecast{prediction.time_s, prediction.power_w, prediction.energy_j, prediction.bound};
  };
  predictor.draws = [=](const MachineModel& model, const Observation& row) {
    return step_draws(for_network(model, with_full_options(row)), loads->of(row),
                      machines->conditions(row));
  };
  predictor.fit = [=](const MachineModel& prior, Observations rows) {
    std::vector<Observation> observations;
    std::vector<const NetworkLoad*> networks;
    for (const Observation* row : rows) {
      observations.push_back(with_full_options(*row));
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

Predictor with_model(Predictor predictor, MachineModel model) {
  predictor.prior = [model = std::move(model)](const Observation& row) {
    if (row.device != model.device)
      throw Error(
          {}, fmt::format("was measured on {}, and the model is of {}", row.device, model.device));
    return model;
  };
  return predictor;
}

}  // namespace ridgeline
