// Draws of a model's parameters from their distribution, and the coefficients that follow.
// Log-normal ones stay positive in every draw; offsets are normal and may have either sign. The
// same model, runtime and seed always give the same draws.
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
  // Throws an Error that names the device if the covariance is not positive semi-definite.
  explicit ParameterDraws(const MachineModel& model);

  // Values in the order of model.parameters.
  std::vector<double> draw(Random& random) const;

 private:
  // Parameters that are drawn together.
  struct Block {
    std::vector<std::size_t> free;  // parameters with a variance
    std::vector<bool> logarithmic;  // of these
    // Square root of their covariance, column by column; of logarithms if log-normal.
    std::vector<double> root;
  };

  Block block(const MachineModel& model, std::vector<std::size_t> free) const;
  static void draw(const Block& block, Random& random, std::vector<double>& values);

  std::vector<double> means_;
  // Scales of unfamiliar kernels that depend on nothing else are drawn from random numbers of their
  // own: where they do not count, intervals are the same as without them.
  Block known_, unfamiliar_;
};

struct CoefficientDraw {
  Coefficients values;
  // Remaining error of a run against the formulas, for the whole step, not for each row.
  double time_scale = 1;
  double power_scale = 1;
  // Error of the time of any mode relative to the fastest one, which the scales above leave out.
  double mode_scale = 1;
};

std::vector<CoefficientDraw> coefficient_draws(const MachineModel& model, Runtime runtime,
                                               int draws, std::uint64_t seed);

// Scales draws of a quantity so that their median is its value at the means. A step is the maximum
// of many times, so uncertainty in any of them raises the median of the draws; held-out rows do not
// show this shift.
void centre_on(double value, std::span<double> draws);

}  // namespace ridgeline
