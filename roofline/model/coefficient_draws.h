// Draws of the coefficients: what the parameters may be, and by how much a run may still differ
// from the formulas. The same model, runtime and seed give the same draws, whatever they are used
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "base/machine_model.h"
#include "base/runtime.h"
#include "roofline/model/coefficients.h"

namespace ridgeline {

struct CoefficientDraw {
  Coefficients values;
  // What the formulas do not know scales the whole step, not each row by itself.
  double time_scale = 1;
  double power_scale = 1;
};

std::vector<CoefficientDraw> coefficient_draws(const MachineModel& model, Runtime runtime,
                                               int draws, std::uint64_t seed);

}  // namespace ridgeline
