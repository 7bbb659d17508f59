// Sweep: the cost of every candidate mode with every variant, at the means of the parameters, in
// plain doubles. No solver and no search: every combination is evaluated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/problem.h"
#include "roofline/model/step.h"

namespace ridgeline {

// Variant by variant: the row of a combination is variant × modes + mode.
struct Sweep {
  std::size_t modes = 0;
  std::vector<BatchCost> costs;       // NaN times: the model cannot run there
  std::vector<double> fastest_s;      // per variant, among the eligible modes
  std::vector<std::size_t> fastest;   // rows
  std::vector<std::string> left_out;  // stock modes that the model cannot run in, and why

  std::size_t mode_of(std::size_t row) const { return row % modes; }
  std::size_t variant_of(std::size_t row) const { return row / modes; }
  std::size_t row(std::size_t variant, std::size_t mode) const { return variant * modes + mode; }
};

// Throws the model's Error if the model can run in no mode at all.
Sweep sweep(const PlanProblem& problem);

const CandidateMode& mode_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row);
const PlanVariant& variant_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row);

// At the means of the parameters.
Service service_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                   const Objective& objective);
double slowdown_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row);
double limited_value_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                        LimitKind kind, const Objective& objective);

// Cost of one network with given coefficients; the caller applies the scales of a draw.
class CostModel {
 public:
  CostModel(const NetworkLoad& load, const Coefficients& coefficients);
  BatchCost at(const Conditions& conditions) const;

 private:
  Coefficients coefficients_;
  StepModel model_;
};

// Adds the step of a network that is trained beside it.
void add_training(BatchCost& cost, const BatchCost& step);

}  // namespace ridgeline
