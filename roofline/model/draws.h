// Draws of a model's parameters from what is believed about them, and of the coefficients that
// follow. Log-normal ones stay positive in every draw; offsets are normal and may have either sign.
// The same model, runtime and seed give the same draws, whatever they are used for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/machine_model.h"
#include "base/random.h"
#include "base/runtime.h"
#include "roofline/model/coefficients.h"

namespace ridgeline {

// Whether a parameter is declared log-normal; offsets may have either sign and are normal.
bool is_log_normal(const Parameter& parameter);

// Standard normal, by the polar method.
double normal(Random& random);

class ParameterDraws {
 public:
  // The covariance must be positive semi-definite; an Error names the device where it is not.
  explicit ParameterDraws(const MachineModel& model);

  // Values in the order of model.parameters.
  std::vector<double> draw(Random& random) const;

 private:
  std::vector<double> means_;
  std::vector<std::size_t> free_;  // parameters with a variance
  std::vector<bool> logarithmic_;  // of these
  // Square root of the free ones' covariance, column by column; of logarithms where log-normal.
  std::vector<double> root_;
};

struct CoefficientDraw {
  Coefficients values;
  // By how much a run may still differ from the formulas: of the whole step, not of each row.
  double time_scale = 1;
  double power_scale = 1;
};

std::vector<CoefficientDraw> coefficient_draws(const MachineModel& model, Runtime runtime,
                                               int draws, std::uint64_t seed);

// Scales draws of a quantity so that their median is its value at the means. A step is the larger
// of many times, so doubt about any of them moves the median up, and more the less is known; rows
// that were held out do not show that.
void centre_on(double value, std::span<double> draws);

}  // namespace ridgeline
