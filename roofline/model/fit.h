// Fits a MachineModel to measurements: maximum a posteriori, log-normal priors, robust residuals.
// Micro-benchmark rows and whole networks are both observations; facts without variance stay.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "roofline/model/conditions.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// Whether a parameter tells what is peculiar to one network: a fit to several leaves it alone.
bool is_of_network(const Parameter& parameter);

// One measured run of a network.
struct Observation {
  std::string network;  // equal for runs of one network, whatever its batch: "resnet50 seq=128"
  std::string name;     // for messages: "resnet50 batch 8 at 30W"
  const NetworkLoad* load = nullptr;  // not owned
  Conditions conditions;
  double time_s = 0;
  std::optional<double> power_w;
};

// An observation that was not used, and why.
struct RefusedObservation {
  std::string name;
  std::string reason;
};

struct FitResult {
  MachineModel model;  // posterior: means and covariance; fitted parameters say so
  std::vector<RefusedObservation> refused;
  std::vector<std::string> notes;  // "time does not move with the GPU clock: host-bound …"
};

struct FitOptions {
  double time_noise = 0.05;   // relative, one sigma: repeat noise of the measurements
  double power_noise = 0.03;  //
  bool refuse_outliers = true;
};

FitResult fit(const MachineModel& prior, std::span<const Observation> observations,
              const FitOptions& options = {});

}  // namespace ridgeline
