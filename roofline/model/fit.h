// Fits a MachineModel to measurements: maximum a posteriori, log-normal priors, robust residuals.
// Micro-benchmark rows and whole networks are both observations; parameters without variance
// stay fixed.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/machine_model.h"
#include "base/observation.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// Whether a parameter is peculiar to one network: a fit to several networks leaves it unchanged.
bool is_of_network(const Parameter& parameter);

struct FitResult {
  MachineModel model;  // posterior means and covariance; fitted parameters are marked
  std::map<std::size_t, std::string> refused;  // reason, by index of the observation
  std::vector<std::string> notes;  // "time does not move with the GPU clock: host-bound …"
};

struct FitOptions {
  double time_noise = 0.05;   // relative, one sigma: repeat noise of the measurements
  double power_noise = 0.03;  //
  bool refuse_outliers = true;
};

// `loads` holds the network of each observation.
FitResult fit(const MachineModel& prior, std::span<const Observation> observations,
              std::span<const NetworkLoad* const> loads, const FitOptions& options = {});

}  // namespace ridgeline
