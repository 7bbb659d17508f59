// What settings take, as joint draws for a decision: parameters of the model, and what its formulas
// miss in one setting more than in another. Settings that are close to each other are missed alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/conditions.h"
#include "base/machine_model.h"
#include "base/tokens.h"
#include "roofline/model/network_load.h"
#include "validation/decision.h"

namespace ridgeline {

// Enough that covariances are known to a twentieth.
inline constexpr int decision_draws = 400;

// One step of a network; power is empty if the model has no energy.
struct StepDraws {
  std::vector<double> time_s, power_w;
};

// Draw i of two models with the same parameters has the same random numbers, so that settings that
// need different models (threads of a CPU) are drawn jointly.
StepDraws step_draws(const MachineModel& model, const NetworkLoad& load,
                     const Conditions& conditions, int draws = decision_draws);

// Where a setting lies among others: logarithms of its clocks, units, cores and batch, and its
// type.
struct SettingPlace {
  OperatingPoint point;
  double batch = 1;
  DType dtype = DType::fp32;
};

// One sigma of what the formulas miss, and how far apart settings are missed differently: at
// `length` of the logarithm of a knob. Assumed, near what a fit assumes (FitOptions::time_misfit).
struct Misfit {
  double time = 0.06;
  double power = 0.04;
  double length = 0.7;
};

// As a decision wants them. Without power in the model, and with `assumed_power`, power is assumed
// to be anything, and 20 % different between settings that are far apart.
std::vector<SettingDraws> setting_draws(std::span<const StepDraws> steps,
                                        std::span<const SettingPlace> places,
                                        bool assumed_power = false, const Misfit& misfit = {});

}  // namespace ridgeline
