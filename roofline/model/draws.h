// Draws of a model's parameters from what is believed about them: log-normal, so that no draw turns
// a rate or an energy negative, or normal for offsets that may have either sign. Fixed seed, so the
// same model gives the same draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/machine_model.h"
#include "base/random.h"

namespace ridgeline {

// Whether a parameter is believed to be log-normal: all but offsets, which may have either sign.
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

// Scales draws of a quantity so that their median is its value at the means. A step is the larger
// of many times, so doubt about any of them moves the median up, and more the less is known; rows
// that were held out do not show that.
void centre_on(double value, std::span<double> draws);

}  // namespace ridgeline
