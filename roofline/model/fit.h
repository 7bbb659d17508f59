// Fits a MachineModel to measurements: maximum a posteriori, log-normal priors, robust residuals.
// Micro-benchmark rows and whole networks are both observations; parameters without variance
// stay fixed. Each network has scales of its own, so that what is peculiar to it does not bend the
// machine.
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

// Whether a parameter is peculiar to one network. A fit leaves the model's own unchanged, which
// holds for networks that were not measured, and returns those of the measured networks beside it.
bool is_of_network(const Parameter& parameter);

struct FitResult {
  // Posterior means and covariance; fitted parameters are marked. for_network() has the scales of
  // one of the observed networks.
  MachineModel model;
  std::map<std::size_t, std::string> refused;  // reason, by index of the observation
  std::vector<std::string> notes;  // "time does not move with the GPU clock: host-bound …"
};

struct FitOptions {
  // Relative, one sigma: repeat noise of the measurements …
  double time_noise = 0.05;
  double power_noise = 0.03;
  // … and what no scale of a network explains, since the formulas err differently for each batch,
  // type and mode.
  double time_misfit = 0.05;
  // With free clocks, a governor or a warm board slows several rows of a session down together. On
  // AGX Orin the same run took up to 1.5 times as long the second time.
  double governed_noise = 0.2;
  bool refuse_outliers = true;
};

// `loads` holds the network of each observation.
FitResult fit(const MachineModel& prior, std::span<const Observation> observations,
              std::span<const NetworkLoad* const> loads, const FitOptions& options = {});

}  // namespace ridgeline
