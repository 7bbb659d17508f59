// Draws of a model's parameters from what is believed about them: log-normal where the mean is
// positive, so that no draw turns a rate or an energy negative, else normal. Fixed seed, so the
// same model gives the same draws.
#pragma once

#include <cstddef>
#include <vector>

#include "base/machine_model.h"
#include "base/random.h"

namespace ridgeline {

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
  // Square root of the free ones' covariance, column by column; of logarithms where the mean is
  // positive.
  std::vector<double> root_;
};

}  // namespace ridgeline
