// Belief: what the rows of a sweep may cost, as draws of the parameters. Draws are dear, so only
// rows that are asked for have them; the same draw means the same machine in every row.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "planner/objective.h"
#include "planner/sweep.h"
#include "roofline/model/coefficient_draws.h"

namespace ridgeline {

class Belief {
 public:
  // Without draws every probability is 0 or 1. `trained`: as many, of the runtime that trains
  // beside inference, with the same parameters.
  Belief(const PlanProblem& problem, const Sweep& sweep, std::span<const CoefficientDraw> draws,
         std::span<const CoefficientDraw> trained = {});

  std::size_t draws() const { return draws_.size(); }

  // Makes the draws of these rows at once: on two threads where there are enough of them.
  void draw(std::span<const std::size_t> rows);

  // One cost per draw; draws the row where that was not done yet.
  const std::vector<RunCost>& costs(std::size_t row);

  // What a limit bounds, per draw; without draws the one value of the sweep.
  std::vector<double> limited_draws(std::size_t row, LimitKind kind, const Objective& objective);

  // Share of the draws in which one limit holds; all of them together.
  double probability(std::size_t row, const Limit& limit, const Objective& objective);
  double probability(std::size_t row, const Objective& objective);

  // What an objective looks at, per draw.
  std::vector<Service> services(std::size_t row, const Objective& objective);

 private:
  void draw_part(std::span<const std::size_t> rows, std::size_t begin, std::size_t end);
  void add_trained(std::span<const std::size_t> rows, std::size_t draw);
  void centre(std::size_t row);
  double slowdown(std::size_t row, std::size_t draw);

  const PlanProblem& problem_;
  const Sweep& sweep_;
  std::span<const CoefficientDraw> draws_, trained_;
  std::map<std::size_t, std::vector<RunCost>> costs_;
};

// At the means of the parameters.
Service service_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row,
                   const Objective& objective);
double slowdown_at(const PlanProblem& problem, const Sweep& sweep, std::size_t row);

}  // namespace ridgeline
